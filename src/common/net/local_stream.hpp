/// @file
/// Streams to processes of this host: where rank 0 takes those of its own user, and what tells them from others.
#pragma once

#include <optional>

#include "common/net/address.hpp"
#include "common/net/unix_socket.hpp"

namespace pgas::detail {

/// A listener for streams of bytes under an abstract name; none with errno set where that cannot be. Every user may
/// connect: peer_credentials() says whose a process is.
[[nodiscard]] unique_fd listen_for_streams(const unix_address& address, int backlog);

/// A stream to such a listener. An error of EAGAIN: it is busy.
[[nodiscard]] connect_result connect_stream(const unix_address& address);

/// Where the other end of a TCP connection is; none where the kernel does not say.
[[nodiscard]] std::optional<tcp_address> peer_address(int socket);

/// Whether the address is one of this host; also where that is not known.
[[nodiscard]] bool is_of_this_host(const tcp_address& address);

}  // namespace pgas::detail
