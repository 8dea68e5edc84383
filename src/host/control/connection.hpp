/// @file
/// What carries packets between two PEs that have been connected: the same for both kinds of sockets.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "common/net/unix_socket.hpp"
#include "common/unique_fd.hpp"

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
  /// Sends one packet, waiting for as long as `patient()`. Gives 0, EAGAIN where patience ended first, or another
  /// errno: ETOOMANYREFS where it ended while all processes of this user together had as many descriptors on their way
  /// as one of them may have open.
  [[nodiscard]] int send_whole(std::span<const std::byte> head, std::span<const std::byte> body,
                               std::span<const int> fds, const std::function<bool()>& patient);
  /// Receives one packet without blocking; its bytes are valid until the next call.
  [[nodiscard]] virtual received_packet receive() = 0;
  /// Nothing more will be sent. What was sent still arrives, and then the peer sees the end.
  virtual void finish() noexcept = 0;

 private:
  unique_fd fd_;
};

}  // namespace pgas::detail
