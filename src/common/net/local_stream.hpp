/// @file
/// Streams between processes of this host, by which rank 0 accepts processes of its own user, and the test whether an
/// address belongs to this host.
#pragma once

#include <optional>

#include "common/net/address.hpp"
#include "common/net/unix_socket.hpp"

namespace pgas::detail {

/// A listener for streams of bytes under an abstract name; none with errno set where that cannot be. Every user may
/// connect: peer_credentials() tells the user of the other end.
[[nodiscard]] unique_fd listen_for_streams(const unix_address& address, int backlog);

/// A stream to such a listener. An error of EAGAIN: it is busy.
[[nodiscard]] connect_result connect_stream(const unix_address& address);

/// Where the other end of a TCP connection is; none where the kernel does not say.
[[nodiscard]] std::optional<tcp_address> peer_address(int socket);

/// Whether the address is one of this host; also where that is not known.
[[nodiscard]] bool is_of_this_host(const tcp_address& address);

}  // namespace pgas::detail
