/// @file
/// Connects the PEs of a host with one another, and nobody else.
#pragma once

#include <string>
#include <vector>

#include "device/unique_fd.hpp"
#include "host/log/log.hpp"
#include "host/world/hello.hpp"
#include "host/world/unix_socket.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// One connected and mutually authenticated socket per PE (none at `me`). The higher PE connects to the lower one. Both
/// check the user at the other end before they say anything, then the connecting PE proves that it knows the secret,
/// then the accepting one does. Whoever fails is refused with one warning and delays nobody. *Errors* peer_unreachable,
/// authentication, peer_lost, bootstrap_timeout naming who did not connect.
[[nodiscard]] std::vector<unique_fd> connect_all(const std::vector<hello>& all, int me, const unix_listener& listener,
                                                 const config& settings, log::logger& log);

/// "PE 2 (host a, pid 123)".
[[nodiscard]] std::string describe_pe(const std::vector<hello>& all, int pe);

}  // namespace pgas::detail
