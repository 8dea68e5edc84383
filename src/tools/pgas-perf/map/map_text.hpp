/// @file
/// A map as text for the terminal. The map of a few PEs is printed as matrices. The map of many PEs has a line for each
/// PE.
#pragma once

#include <string>

#include "map/compare_maps.hpp"
#include "map/world_map.hpp"

namespace pgas::perf {

struct text_style {
  std::size_t width = 100;  ///< columns; at least 80
  bool colour = false;
  bool matrices = false;  ///< whether to print matrices also for many PEs, in bands as wide as the terminal
};

/// For more PEs than this number, matrices are printed only on request.
inline constexpr std::size_t most_pes_of_matrices = 16;

/// The matrices, a summary, and the slow PEs and pairs.
[[nodiscard]] std::string text_of(const world_map& map, const text_style& style);
/// The pairs that became slower than tolerated, the slowest first, and their number.
[[nodiscard]] std::string text_of(const map_comparison& comparison, const text_style& style);

}  // namespace pgas::perf
