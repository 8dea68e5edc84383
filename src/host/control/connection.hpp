/// @file
/// Connections that carry the control plane's messages between two PEs: over a UNIX socket inside a host, over TCP
/// between hosts.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "common/net/framing.hpp"
#include "common/net/unix_socket.hpp"
#include "host/control/control_message.hpp"

namespace pgas::detail {

/// Owns a socket. Packets go whole and in order, and do not mix, whoever sends. *Callers* any thread;
/// receive(): one.
class connection {
 public:
  explicit connection(unique_fd fd) : fd_(std::move(fd)) {}
  virtual ~connection() = default;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  /// Sends one packet made of two parts without blocking. Gives 0, or an errno: EAGAIN where nothing was taken as the
  /// queue is full, EINPROGRESS where all was taken and flush() has to be called for the rest.
  [[nodiscard]] virtual int send(std::span<const std::byte> head, std::span<const std::byte> body,
                                 std::span<const int> fds) = 0;
  /// Gives 0 once nothing that was taken is left here, EAGAIN while the queue is full, or another errno.
  [[nodiscard]] virtual int flush() = 0;
  /// Sends one packet, waiting for as long as `keep_trying()`. Gives 0, EAGAIN where patience ended first, or another
  /// errno: ETOOMANYREFS where it ended while all processes of this user together had as many descriptors on their way
  /// as one of them may have open.
  [[nodiscard]] int send_until(std::span<const std::byte> head, std::span<const std::byte> body,
                               std::span<const int> fds, const std::function<bool()>& keep_trying);
  /// Receives one packet without blocking; its bytes are valid until the next call.
  [[nodiscard]] virtual received_packet receive() = 0;
  /// Nothing more will be sent. What was sent still arrives, and then the peer sees the end.
  virtual void finish() noexcept = 0;

 private:
  unique_fd fd_;
};

class unix_connection final : public connection {
 public:
  /// @param buffer for all channels of the one thread that receives; as large as the largest packet.
  unix_connection(unique_fd fd, std::vector<std::byte>& buffer) : connection(std::move(fd)), buffer_(buffer) {}

  int send(std::span<const std::byte> head, std::span<const std::byte> body, std::span<const int> fds) override {
    return send_packet(fd(), head, body, fds);
  }
  int flush() override { return 0; }
  received_packet receive() override { return receive_packet(fd(), buffer_); }
  void finish() noexcept override {}  // a UNIX socket keeps what it has taken, whoever closes first

 private:
  std::vector<std::byte>& buffer_;
};

/// Packets follow one another in the stream; each begins with its message_header, which says how long it is. A packet
/// that the kernel does not take whole is kept, and no other one is taken before its rest is sent.
class tcp_connection final : public connection {
 public:
  explicit tcp_connection(unique_fd fd) : connection(std::move(fd)) {}

  /// *Errors* EPIPE for every reason for which nothing can be sent any more: the end, and why, is what receive() tells.
  /// Descriptors can't be sent.
  int send(std::span<const std::byte> head, std::span<const std::byte> body, std::span<const int> fds) override;
  int flush() override;
  /// After a packet that is too long or none at all, which is told as `oversized` once, the channel counts as closed.
  received_packet receive() override;
  void finish() noexcept override;

 private:
  [[nodiscard]] int push();

  std::mutex sending_;             ///< guards what follows
  std::vector<std::byte> unsent_;  ///< the rest of a message, from `sent_` on
  std::size_t sent_ = 0;

  frame_reader<message_header> incoming_{max_contribution};  ///< the receiver's
};

}  // namespace pgas::detail
