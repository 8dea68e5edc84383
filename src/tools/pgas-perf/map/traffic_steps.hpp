/// @file
/// The order in which the pairs of PEs are measured, and the pairs that transfer at the same time.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace pgas::perf {

/// The transfers that run at the same time.
enum class pattern : std::uint8_t {
  alone,   ///< one ordered pair of PEs transfers, and all other PEs are idle
  shift,   ///< each PE transfers to the PE whose number is larger by d (modulo the number of PEs), for every d
  incast,  ///< all other PEs transfer to one PE, for every PE
  all,     ///< each PE transfers to all other PEs; a separate row measures this pattern
};

/// Transfers that run at the same time. `to[pe]` is the target of `pe`, or -1 if `pe` does not transfer.
struct traffic_step {
  pattern in = pattern::alone;
  std::vector<int> to;
};

/// The rounds of a round-robin tournament of `n` PEs. The pairs of a round are disjoint, and each pair occurs once.
[[nodiscard]] std::vector<std::vector<std::pair<int, int>>> tournament(int n);

/// The steps of a pattern, in which each ordered pair transfers once. Empty for pattern::all. The pairs of
/// pattern::alone are in the order of the tournament, so that the first steps include every PE.
/// @param disjoint_at_once if true, all pairs of a round of pattern::alone transfer at the same time, first in one
/// direction, then in the opposite direction
[[nodiscard]] std::vector<traffic_step> steps_of(pattern in, int n, bool disjoint_at_once);

[[nodiscard]] std::string_view name_of(pattern in);

}  // namespace pgas::perf
