/// @file
/// The setting PGAS_P2P: the sets of PEs that may share memory. The PEs of a set become a domain if a kind of handle
/// works between all of them (find_domains.hpp). PEs of different sets are proxied peers, as between hosts.
#pragma once

#include <string>
#include <vector>

#include "host/exchange/control_group.hpp"

namespace pgas::detail {

/// Parses the sets of PGAS_P2P for `n` PEs. Returns for each PE the number of its set, whose members may share memory.
/// `all` is one set. In lists such as `0,2/1,3`, a PE that no list names forms its own set.
/// *Errors* config_value.
/// @param of_job whether the `n` PEs are the whole job. If so, larger numbers are errors. Worlds of some PEs of a job,
/// and single processes, ignore larger numbers
[[nodiscard]] std::vector<int> parse_p2p_sets(const std::string& direct, int n, bool of_job = false);

/// The sets of parse_p2p_sets(). Collective. *Errors* config_value, the same on all PEs, also if the setting differs
/// between PEs.
[[nodiscard]] std::vector<int> agree_on_p2p_sets(const control_group& everyone, const std::string& direct);

}  // namespace pgas::detail
