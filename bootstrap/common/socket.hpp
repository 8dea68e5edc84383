/// @file
/// The few socket operations that the star of connections needs, with deadlines where they can wait.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "common/deadline.hpp"
#include "common/unique_fd.hpp"

namespace pgas::boot {

using namespace detail;  // of src/common

/// Two connected, non-blocking local stream sockets, closed on exec.
[[nodiscard]] std::pair<unique_fd, unique_fd> socket_pair();

/// Waits until `fd` shows one of `events` (or has failed); false when the deadline came first.
[[nodiscard]] bool wait_for_events(int fd, short events, const deadline& limit);

/// Sends everything over a non-blocking socket. Returns 0, or the errno that stopped it (ETIMEDOUT at the deadline).
/// Never raises SIGPIPE.
[[nodiscard]] int send_all(int fd, std::span<const std::byte> bytes, const deadline& limit);

/// "10.0.0.1:29500", "[fd00::1]:29500"
[[nodiscard]] std::string format_address(const sockaddr* address, socklen_t length);

}  // namespace pgas::boot
