/// @file
/// Operations of all stream sockets, whatever their family. None of them raises SIGPIPE.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <span>
#include <utility>

#include "common/deadline.hpp"
#include "common/unique_fd.hpp"

namespace pgas::detail {

/// Two connected, non-blocking local sockets, closed on exec. *Errors* system.
[[nodiscard]] std::pair<unique_fd, unique_fd> socket_pair(int type = SOCK_STREAM);

/// A connection, or the errno that says why there is none. Both are unset where nobody waits to be accepted.
struct connect_result {
  unique_fd fd;
  int error = 0;
};
/// Accepts the next connection of a non-blocking listener. Connections that failed while they waited are passed over,
/// so an error is one of this process: it has no descriptors or no memory left.
/// @param from its address, if not null; `*length` bytes of it.
[[nodiscard]] connect_result accept_next(int listener, sockaddr* from = nullptr, socklen_t* length = nullptr);

/// Waits until `fd` shows one of `events` (or has failed); false when the deadline came first.
[[nodiscard]] bool wait_for_events(int fd, short events, const deadline& limit);

/// Sends everything over a non-blocking socket. Gives 0, or the errno that stopped it (ETIMEDOUT at the deadline).
[[nodiscard]] int send_all(int fd, std::span<const std::byte> bytes, const deadline& limit);
/// The same without waiting, for small messages on a connection over which nothing was sent before.
[[nodiscard]] int send_now(int fd, std::span<const std::byte> bytes);

/// How far a part of the stream has been received.
enum class receipt { whole, partly, ended };
/// Receives into `into` from `have` on, without waiting, and advances `have`. `ended` for errors, too.
[[nodiscard]] receipt receive_some(int fd, std::span<std::byte> into, std::size_t& have);

/// A value as it lies in memory.
template <class Value>
[[nodiscard]] std::span<const std::byte> bytes_of(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <class Value>
[[nodiscard]] std::span<std::byte> writable_bytes_of(Value& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace pgas::detail
