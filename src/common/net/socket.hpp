/// @file
/// Operations on stream sockets of every family. No operation raises SIGPIPE.
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

/// A connection, or the errno of the failure. If no connection waits to be accepted, both are unset.
struct connect_result {
  unique_fd fd;
  int error = 0;
};
/// Accepts the next connection of a non-blocking listener. Skips connections that failed while they waited. An error
/// therefore means that this process has no descriptors or no memory left.
/// @param from receives the address of the peer, if not null; `*length` is its size
[[nodiscard]] connect_result accept_next(int listener, sockaddr* from = nullptr, socklen_t* length = nullptr);

/// Waits until `fd` shows one of `events` or an error. Returns false if the deadline passes first.
[[nodiscard]] bool wait_for_events(int fd, short events, const deadline& limit);

/// Sends all bytes over a non-blocking socket. Returns 0, or the errno of the failure (ETIMEDOUT at the deadline).
[[nodiscard]] int send_all(int fd, std::span<const std::byte> bytes, const deadline& limit);
/// As send_all(), but does not wait. For small messages on a connection that has sent no bytes.
[[nodiscard]] int send_now(int fd, std::span<const std::byte> bytes);

/// The result of receive_some(): the part is complete, the part is incomplete, or the stream has ended.
enum class receipt { whole, partly, ended };
/// Receives bytes into `into` from position `have` on, without waiting, and advances `have`. After an error, the result
/// is also `ended`.
[[nodiscard]] receipt receive_some(int fd, std::span<std::byte> into, std::size_t& have);

}  // namespace pgas::detail
