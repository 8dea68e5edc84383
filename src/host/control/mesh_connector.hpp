/// @file
/// Connects the PEs of a world with one another, and nobody else.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/net/tcp_socket.hpp"
#include "common/net/unix_socket.hpp"
#include "common/unique_fd.hpp"
#include "host/control/peer_descriptor.hpp"
#include "host/log/log.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// The process of a PE has ended: it will take part in nothing more.
class pe_has_died final : public error {
 public:
  using error::error;
};

/// One connected and mutually authenticated socket per PE (none at `me`): a UNIX socket to each of the same host, where
/// both sides check the user at the other end before they say anything, TCP to all others. The higher PE connects to
/// the lower one, then both prove themselves (handshake.hpp). Whoever fails is refused with one warning and delays
/// nobody.
/// @param tcp null where all PEs are on one host; @param endpoints of other hosts' PEs, by PE, empty then.
/// *Errors* peer_unreachable, naming the addresses of that PE and what each answered; authentication, peer_lost
/// (pe_has_died where that is why), bootstrap_timeout naming who did not connect.
[[nodiscard]] std::vector<unique_fd> connect_all(const std::vector<peer_descriptor>& all, int me,
                                                 const unix_listener& listener, const config& settings,
                                                 log::logger& log, const tcp_listener* tcp = nullptr,
                                                 std::span<const tcp_endpoints> endpoints = {});

/// "PE 2 (host a, pid 123)".
[[nodiscard]] std::string describe_pe(const std::vector<peer_descriptor>& all, int pe);

}  // namespace pgas::detail
