/// @file
/// A map on the terminal: matrices for a few PEs, a line for each PE for many.
#pragma once

#include <string>

#include "map/compare_maps.hpp"
#include "map/world_map.hpp"

namespace pgas::perf {

struct text_style {
  std::size_t width = 100;  ///< columns; at least 80
  bool colour = false;
  bool matrices = false;  ///< also of many PEs, in bands as wide as fits
};

/// Above this number of PEs there are no matrices, unless they are asked for.
inline constexpr std::size_t most_pes_of_matrices = 16;

/// Matrices, a summary, and what is slow.
[[nodiscard]] std::string text_of(const world_map& map, const text_style& style);
/// The pairs that became slower than tolerated, the slowest first, and how many there are.
[[nodiscard]] std::string text_of(const map_comparison& comparison, const text_style& style);

}  // namespace pgas::perf
