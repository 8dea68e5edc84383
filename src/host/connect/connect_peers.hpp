/// @file
/// Connects a PE to its neighbours in the tree of the world, and refuses all other processes.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "common/net/frame_cipher.hpp"
#include "common/net/tcp_socket.hpp"
#include "common/net/unix_socket.hpp"
#include "common/unique_fd.hpp"
#include "host/connect/peer_descriptor.hpp"
#include "host/connect/peer_table.hpp"
#include "host/log/logger.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// The process of a PE has ended, so no later collective can complete.
class pe_has_died final : public error {
 public:
  using error::error;
};

/// A socket to a PE. If the PE is on another host, also the keys that seal messages to the PE.
struct peer_socket {
  unique_fd fd;
  std::optional<session_keys> keys;
};

/// Connects this PE to its neighbours in the tree of the world (group_tree.hpp). Returns one socket for each neighbour,
/// indexed by PE. Both sides of a socket have authenticated each other. A socket inside a host is a UNIX socket. Both
/// sides check the user of the other side before they send data. A socket between hosts uses TCP.
///
/// A PE connects to its parent. Then both PEs prove that they belong to the job (handshake.hpp). If a connection fails
/// this proof, the PE closes it and logs a warning. No other connection is delayed. The number of connections that wait
/// for a proof is limited.
/// @param tcp null if all PEs are on one host
/// @param endpoints the endpoints of the leaders of other hosts, indexed by PE; empty if all PEs are on one host
/// *Errors* peer_unreachable with the addresses of the PE and the answer of each address; authentication; peer_lost,
/// which is a pe_has_died if a process has ended; bootstrap_timeout with the PEs that did not connect.
[[nodiscard]] std::map<int, peer_socket> connect_peers(const std::vector<peer_descriptor>& all, const peer_table& peers,
                                                       const unix_listener& listener, const config& settings,
                                                       log::logger& log, const tcp_listener* tcp = nullptr,
                                                       std::span<const tcp_endpoints> endpoints = {});

}  // namespace pgas::detail
