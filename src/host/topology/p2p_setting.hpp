/// @file
/// The setting PGAS_P2P: the sets of PEs that may share memory. The PEs of a set become a domain if a kind of handle
/// works between all of them (find_domains.hpp). PEs of different sets are proxied peers, like PEs of different hosts.
#pragma once

#include <string>
#include <vector>

#include "host/exchange/control_group.hpp"

namespace pgas::detail {

/// Parses the sets of PGAS_P2P for `n` PEs. Returns for each PE the number of its set. The members of a set may share
/// memory. `all` is one set. In lists such as `0,2/1,3`, a PE that is in no list forms a separate set.
/// *Errors* config_value.
/// @param of_job whether the `n` PEs are the whole job. If so, PE numbers of `n` and above are errors. Otherwise, in a
/// single process or a world of some PEs of a job, these numbers are ignored
[[nodiscard]] std::vector<int> parse_p2p_sets(const std::string& direct, int n, bool of_job = false);

/// The sets of parse_p2p_sets(). Collective. *Errors* config_value, the same on all PEs; also if PEs have different
/// settings.
[[nodiscard]] std::vector<int> agree_on_p2p_sets(const control_group& everyone, const std::string& direct);

}  // namespace pgas::detail
