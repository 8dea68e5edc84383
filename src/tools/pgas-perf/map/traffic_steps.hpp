/// @file
/// The order in which the pairs of PEs are measured, and which of them transfer at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace pgas::perf {

/// Which transfers run at the same time.
enum class pattern : std::uint8_t {
  alone,   ///< one ordered pair, all other PEs idle
  shift,   ///< every PE to the one that is d further, for every distance d
  incast,  ///< all PEs to one, for every PE
  all,     ///< every PE to all others: measured by a row of its own
};

/// Transfers that run at once: `to[pe]` is the PE that `pe` transfers to, -1 where it has none.
struct traffic_step {
  pattern in = pattern::alone;
  std::vector<int> to;
};

/// The rounds of a round-robin tournament of `n` PEs: the pairs of a round are disjoint, and every pair meets once.
[[nodiscard]] std::vector<std::vector<std::pair<int, int>>> tournament(int n);

/// The steps of a pattern, in which every ordered pair transfers once; none for pattern::all. Pairs alone come in the
/// order of the tournament, so that the first steps have met every PE. @param disjoint_at_once the pairs of a round of
/// pattern::alone run at once, first one way, then the other
[[nodiscard]] std::vector<traffic_step> steps_of(pattern in, int n, bool disjoint_at_once);

[[nodiscard]] std::string_view name_of(pattern in);

}  // namespace pgas::perf
