/// @file
/// Connections carry the control plane's packets between two PEs. A connection is a UNIX socket inside a host and a TCP
/// socket between hosts.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "common/net/framing.hpp"
#include "common/net/unix_socket.hpp"
#include "host/connect/control_message.hpp"

namespace pgas::detail {

/// Owns a socket. Packets are sent in order, and packets of different threads do not mix. *Callers* any thread; for
/// receive(), one thread.
class connection {
 public:
  explicit connection(unique_fd fd) : fd_(std::move(fd)) {}
  virtual ~connection() = default;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  /// Sends one message, which consists of two parts, without blocking. Returns 0 or an errno. EAGAIN: the queue is
  /// full, and the message was not taken. EINPROGRESS: the message was taken, and flush() must be called to send the
  /// rest.
  [[nodiscard]] virtual int send(std::span<const std::byte> head, std::span<const std::byte> body,
                                 std::span<const int> fds) = 0;
  /// Sends the rest of a message that was taken. Returns 0, EAGAIN while the queue is full, or another errno.
  [[nodiscard]] virtual int flush() = 0;
  /// Receives one message without blocking. The bytes of the message are valid until the next call.
  [[nodiscard]] virtual received_packet receive() = 0;
  /// Whether the last message was changed on the way or sent by another process. *Callers* the receiving thread.
  [[nodiscard]] virtual bool is_forged() const noexcept { return false; }
  /// Ends the sending direction. The peer receives all earlier messages, then the end of the connection.
  virtual void finish() noexcept = 0;

 private:
  unique_fd fd_;
};

class unix_connection final : public connection {
 public:
  /// @param buffer a buffer that all connections of the receiving thread share; as large as the largest message
  unix_connection(unique_fd fd, std::vector<std::byte>& buffer) : connection(std::move(fd)), buffer_(buffer) {}

  int send(std::span<const std::byte> head, std::span<const std::byte> body, std::span<const int> fds) override {
    return send_packet(fd(), head, body, fds);
  }
  int flush() override { return 0; }
  received_packet receive() override { return receive_packet(fd(), buffer_); }
  void finish() noexcept override {}  // nothing to do: a closed UNIX socket still delivers all packets

 private:
  std::vector<std::byte>& buffer_;
};

/// Each message in the stream is sealed (frame_cipher.hpp). If Linux accepts only a part of a message, the connection
/// keeps the rest. The connection accepts no other message before the rest is sent.
class tcp_connection final : public connection {
 public:
  tcp_connection(unique_fd fd, const session_keys& keys)
      : connection(std::move(fd)),
        outgoing_(keys.to_send),
        incoming_(max_contribution, frame_cipher(keys.to_receive)) {}

  /// Returns EPIPE if the connection cannot send any more; receive() reports the end and its reason. Returns EINVAL if
  /// `fds` is not empty.
  int send(std::span<const std::byte> head, std::span<const std::byte> body, std::span<const int> fds) override;
  int flush() override;
  /// Reports a malformed, too long or forged message as `oversized`, once. is_forged() tells whether the message was
  /// forged. After the report the connection counts as closed.
  received_packet receive() override;
  bool is_forged() const noexcept override { return forged_; }
  void finish() noexcept override;

 private:
  [[nodiscard]] int push();

  std::mutex sending_;  ///< guards outgoing_, unsent_ and sent_
  frame_cipher outgoing_;
  std::vector<std::byte> unsent_;  ///< a sealed message, of which `sent_` bytes were sent
  std::size_t sent_ = 0;

  bool forged_ = false;
  frame_reader<control_header> incoming_;  ///< used by the receiving thread
};

/// The queue of packets for a connection. With the queue, sending never blocks. *Callers* any thread.
class packet_queue {
 public:
  enum class state {
    sent,
    waiting,  ///< packets wait until the socket is writable
    crowded,  ///< Linux lacks memory, or has too many descriptors in flight: try again soon
    closed    ///< the connection cannot send any more; receive() reports the end
  };

  explicit packet_queue(connection& to) : to_(to) {}

  /// Sends a message after the waiting packets, as far as possible. Returns whether packets still wait, and why.
  [[nodiscard]] state send(const outgoing_message& message);
  /// Sends the waiting packets, as far as possible.
  [[nodiscard]] state send_waiting();
  /// The number of waiting packets.
  [[nodiscard]] std::size_t waiting() const;
  /// The errno that closed the queue; 0 if the queue is not closed.
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
  mutable std::mutex mutex_;   ///< guards the members below
  std::list<packet> packets_;  ///< a list, because most queues are empty and need no memory
  bool taken_ = false;         ///< the connection has taken the first packet and still sends the rest of this packet
  int problem_ = 0;
};

}  // namespace pgas::detail
