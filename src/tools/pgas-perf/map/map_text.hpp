/// @file
/// A map as text for the terminal. A few PEs get matrices; many PEs get one line each.
#pragma once

#include <string>

#include "map/compare_maps.hpp"
#include "map/world_map.hpp"

namespace pgas::perf {

struct text_style {
  std::size_t width = 100;  ///< columns; at least 80
  bool colour = false;
  bool matrices = false;  ///< print matrices also for many PEs, in bands as wide as the terminal
};

/// Above this number of PEs there are no matrices unless they are requested.
inline constexpr std::size_t most_pes_of_matrices = 16;

/// The matrices, a summary, and the slow PEs and pairs.
[[nodiscard]] std::string text_of(const world_map& map, const text_style& style);
/// The pairs that became slower than tolerated, the slowest first, and their number.
[[nodiscard]] std::string text_of(const map_comparison& comparison, const text_style& style);

}  // namespace pgas::perf
