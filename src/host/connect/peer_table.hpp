/// @file
/// The table of the processes of a world. Every PE has it after the first exchange over the bootstrap.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pgas::detail {

struct peer_descriptor;

/// The process of a PE.
struct peer_info {
  std::string_view host;  ///< in peer_table::host_names
  int pid = 0;
  int host_index = 0;              ///< the number of the host; hosts are numbered in the order of their first PEs
  int local_rank = 0;              ///< the rank among the PEs of the host, in PE order
  bool pid_is_valid_here = false;  ///< the process is on this host and has the same process id here
};

/// The processes of all PEs, and the number of this PE.
struct peer_table {
  peer_table(const std::vector<peer_descriptor>& all, int me);
  peer_table(peer_table&&) = default;

  [[nodiscard]] int n() const noexcept { return static_cast<int>(peers.size()); }
  [[nodiscard]] const peer_info& at(int pe) const { return peers[static_cast<std::size_t>(pe)]; }
  [[nodiscard]] bool on_this_host(int pe) const { return at(pe).host_index == at(me).host_index; }
  [[nodiscard]] bool several_hosts() const;
  /// The name of a PE in messages: "PE 2 (host a, pid 123)".
  [[nodiscard]] std::string describe(int pe) const;
  /// The names of PEs. A long list is cut.
  [[nodiscard]] std::string describe(const std::vector<int>& pes) const;

  int me;
  std::set<std::string> host_names;  ///< processes of one host can see different names of the host
  std::vector<peer_info> peers;
  std::vector<int> hosts;  ///< peer_info::host_index, indexed by PE
};

}  // namespace pgas::detail
