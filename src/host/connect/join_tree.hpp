/// @file
/// The joining of the PEs. The PEs exchange their addresses over the bootstrap. Each PE connects to its neighbours in
/// the tree. The first exchange over the tree completes only if all PEs are connected. If it does not complete, the PEs
/// exchange their failures over the bootstrap.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "common/deadline.hpp"
#include "common/net/tcp_socket.hpp"
#include "common/net/unix_socket.hpp"
#include "host/connect/connection.hpp"
#include "host/connect/peer_descriptor.hpp"
#include "host/connect/peer_table.hpp"
#include "host/log/logger.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// The process of a PE has ended, so no later collective can complete.
class pe_has_died final : public error {
 public:
  using error::error;
};

/// The information and the sockets that a PE has after joining.
struct joined_tree {
  peer_table peers;
  std::chrono::milliseconds peer_timeout;  ///< the smallest PGAS_HEARTBEAT_TIMEOUT of all PEs
  std::uint64_t job;                       ///< the number of the job, which is the same on all PEs
  std::map<int, peer_socket> sockets;      ///< by neighbour
  clock::time_point deadline;              ///< the end of PGAS_JOIN_TIMEOUT
  std::optional<error> failure;            ///< the reason why this PE is not connected to all its neighbours
  bool one_died;                           ///< whether the reason is the end of a process
};

/// Collective over the bootstrap: joins the PEs. A failure to connect is part of the result, because other PEs may be
/// connected. Earlier failures are the same on all PEs, and all PEs throw. *Errors* as the constructor of
/// control_plane.
[[nodiscard]] joined_tree join_tree(bootstrap& exchange, const config& settings, log::logger& log);

/// Connects this PE to its neighbours in the tree of the world (group_tree.hpp). Returns one socket for each neighbour,
/// indexed by PE. Both sides of a socket have authenticated each other. A socket inside a host is a UNIX socket. Both
/// sides check the user of the other side before they send data. A socket between hosts uses TCP.
///
/// A PE connects to its parent. Then both PEs prove that they belong to the job (handshake.hpp). If a connection fails
/// this proof, the PE closes it and logs a warning. No other connection is delayed. The number of connections that wait
/// for a proof is limited.
/// @param tcp null if all PEs are on one host
/// @param endpoints the endpoints of the leaders of other hosts, indexed by PE; empty if all PEs are on one host
/// *Errors* peer_unreachable with the addresses of the PE and the answer of each address; authentication; peer_lost, as
/// pe_has_died if a process has ended; bootstrap_timeout with the PEs that did not connect.
[[nodiscard]] std::map<int, peer_socket> connect_peers(const std::vector<peer_descriptor>& all, const peer_table& peers,
                                                       const unix_listener& listener, const config& settings,
                                                       log::logger& log, const tcp_listener* tcp = nullptr,
                                                       std::span<const tcp_endpoints> endpoints = {});

/// Exchanges the failures of all PEs over the bootstrap, after a PE could not connect to its neighbours. All PEs throw
/// the same error, the most informative one. If the exchange also fails, this PE throws the error of its failure, or
/// the error of the exchange if it names an absent PE.
/// @param limit the time by which the exchange ends
/// @param one_died whether the failure is the end of a process, so that the exchange may not complete
/// @param connected whether this PE was connected to its neighbours. If so, `mine` has come over the tree
[[noreturn]] void throw_common_failure(bootstrap& exchange, const error& mine, clock::time_point limit, bool one_died,
                                       bool connected);

}  // namespace pgas::detail
