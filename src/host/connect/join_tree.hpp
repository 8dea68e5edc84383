/// @file
/// The joining of the PEs. The PEs exchange their addresses over the bootstrap. Each PE connects to its neighbours in
/// the tree. All PEs agree on the outcome.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>

#include "host/connect/connect_peers.hpp"
#include "host/connect/peer_table.hpp"
#include "host/log/logger.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// The information and the sockets that a PE has after joining.
struct joined_tree {
  peer_table peers;
  std::chrono::milliseconds peer_timeout;  ///< the smallest PGAS_HEARTBEAT_TIMEOUT of all PEs
  std::uint64_t job;                       ///< the number of the job, which is the same on all PEs
  std::map<int, peer_socket> sockets;      ///< by neighbour
};

/// Collective over the bootstrap: joins the PEs. Either the function returns on all PEs, or all PEs throw. *Errors* as
/// the constructor of control_plane.
[[nodiscard]] joined_tree join_tree(bootstrap& exchange, const config& settings, log::logger& log);

}  // namespace pgas::detail
