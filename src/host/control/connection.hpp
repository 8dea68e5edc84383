/// @file
/// Connections that carry the control plane's packets between two PEs: over a UNIX socket inside a host, over TCP
/// between hosts.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "common/net/framing.hpp"
#include "common/net/unix_socket.hpp"
#include "host/control/control_message.hpp"

namespace pgas::detail {

/// Owns a socket. Packets are sent whole and in order; those of several threads do not mix. *Callers* any thread;
/// receive(): one.
class connection {
 public:
  explicit connection(unique_fd fd) : fd_(std::move(fd)) {}
  virtual ~connection() = default;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  /// Sends one message made of two parts without blocking. Gives 0, or an errno: EAGAIN where the queue is full and
  /// nothing was taken, EINPROGRESS where the message was taken and flush() has to be called for the rest.
  [[nodiscard]] virtual int send(std::span<const std::byte> head, std::span<const std::byte> body,
                                 std::span<const int> fds) = 0;
  /// Sends the rest of a message that was taken. Gives 0, EAGAIN while the queue is full, or another errno.
  [[nodiscard]] virtual int flush() = 0;
  /// Receives one message without blocking; its bytes are valid until the next call.
  [[nodiscard]] virtual received_packet receive() = 0;
  /// Whether the last message was changed on the way, or sent by another process. *Callers* the receiving thread.
  [[nodiscard]] virtual bool is_forged() const noexcept { return false; }
  /// Ends the sending direction. The peer receives all that was sent, then the end.
  virtual void finish() noexcept = 0;

 private:
  unique_fd fd_;
};

class unix_connection final : public connection {
 public:
  /// @param buffer shared by all connections of the receiving thread; as large as the largest message.
  unix_connection(unique_fd fd, std::vector<std::byte>& buffer) : connection(std::move(fd)), buffer_(buffer) {}

  int send(std::span<const std::byte> head, std::span<const std::byte> body, std::span<const int> fds) override {
    return send_packet(fd(), head, body, fds);
  }
  int flush() override { return 0; }
  received_packet receive() override { return receive_packet(fd(), buffer_); }
  void finish() noexcept override {}  // a UNIX socket delivers what it has taken after it is closed

 private:
  std::vector<std::byte>& buffer_;
};

/// Each message in the stream is sealed (frame_cipher.hpp). A message that the kernel does not take whole is kept, and
/// no other is taken before its rest is sent.
class tcp_connection final : public connection {
 public:
  tcp_connection(unique_fd fd, const session_keys& keys)
      : connection(std::move(fd)),
        outgoing_(keys.to_send),
        incoming_(max_contribution, frame_cipher(keys.to_receive)) {}

  /// *Errors* EPIPE for every reason for which nothing can be sent any more; receive() reports the end and its reason.
  /// EINVAL for descriptors.
  int send(std::span<const std::byte> head, std::span<const std::byte> body, std::span<const int> fds) override;
  int flush() override;
  /// A message that is malformed or too long is reported as `oversized` once, also one that the
  /// other side has not sent so, which is_forged() tells; then the connection counts as closed.
  received_packet receive() override;
  bool is_forged() const noexcept override { return forged_; }
  void finish() noexcept override;

 private:
  [[nodiscard]] int push();

  std::mutex sending_;  ///< guards what follows
  frame_cipher outgoing_;
  std::vector<std::byte> unsent_;  ///< a sealed message, to be sent from `sent_` on
  std::size_t sent_ = 0;

  bool forged_ = false;
  frame_reader<control_header> incoming_;  ///< of the receiving thread
};

/// A queue of packets in front of a connection, so that sending never waits. *Callers* any thread.
class packet_queue {
 public:
  enum class state {
    sent,
    waiting,  ///< until the socket is writable
    crowded,  ///< until memory, or room for descriptors in flight, is there: try again soon
    closed    ///< nothing can be sent any more; receive() reports the end
  };

  explicit packet_queue(connection& to) : to_(to) {}

  /// Sends a message after those that wait already, as far as possible. Whether the rest waits, and for what.
  [[nodiscard]] state send(const outgoing_message& message);
  /// Goes on with what waits.
  [[nodiscard]] state send_waiting();
  /// Packets that wait.
  [[nodiscard]] std::size_t waiting() const;
  /// The errno for which it is closed; 0 where it is not.
  [[nodiscard]] int problem() const;

 private:
  struct packet {
    control_header header;
    std::shared_ptr<parcel> content;
    std::size_t first_byte;
    std::size_t first_fd;
  };
  [[nodiscard]] state push();

  connection& to_;
  mutable std::mutex mutex_;  ///< guards what follows
  std::deque<packet> packets_;
  bool taken_ = false;  ///< of the first packet, whose rest the connection sends
  int problem_ = 0;
};

}  // namespace pgas::detail
