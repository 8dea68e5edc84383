/// @file
/// Connects a PE to its neighbours in the tree of the world, and refuses all other processes.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/net/frame_cipher.hpp"
#include "common/net/tcp_socket.hpp"
#include "common/net/unix_socket.hpp"
#include "common/unique_fd.hpp"
#include "host/control/peer_descriptor.hpp"
#include "host/log/logger.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// The process of a PE has ended, so that no later collective can be completed.
class pe_has_died final : public error {
 public:
  using error::error;
};

/// A socket to a PE, with the keys of its messages where it is of another host.
struct peer_socket {
  unique_fd fd;
  std::optional<session_keys> keys;
};

/// A connected and mutually authenticated socket for each neighbour of this PE in the tree of the world
/// (group_tree.hpp), by PE: a UNIX socket inside a host, where both sides check the user at the other end before they
/// send anything, TCP between hosts. A PE connects to its parent, then both prove themselves (handshake.hpp). A
/// connection that fails is refused with one warning and delays no PE, and no more of them wait for a proof than PEs
/// may need.
/// @param tcp null where all PEs are on one host; @param endpoints of other hosts' leaders, by PE, empty then.
/// *Errors* peer_unreachable, naming the addresses of that PE and the answer of each; authentication; peer_lost, as
/// pe_has_died where a process has ended; bootstrap_timeout naming the PEs that did not connect.
[[nodiscard]] std::map<int, peer_socket> connect_peers(const std::vector<peer_descriptor>& all, int me,
                                                       const unix_listener& listener, const config& settings,
                                                       log::logger& log, const tcp_listener* tcp = nullptr,
                                                       std::span<const tcp_endpoints> endpoints = {});

/// "PE 2 (host a, pid 123)".
[[nodiscard]] std::string describe_pe(const std::vector<peer_descriptor>& all, int pe);

}  // namespace pgas::detail
