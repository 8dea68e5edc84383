/// @file
/// Which PEs and pairs of a map are slow, by statistics that a few slow ones don't bend: medians, and the median
/// distance from them.
#pragma once

#include <string>
#include <vector>

#include "map/world_map.hpp"

namespace pgas::perf {

/// The middle of them, of an even number the mean of the two in the middle; unmeasured if there are none.
[[nodiscard]] double median_of(std::vector<double> values);
/// Median absolute deviation from `middle`, scaled so that it is the standard deviation of a normal distribution.
[[nodiscard]] double deviation_of(const std::vector<double>& values, double middle);

/// A slow pair, or a PE into or out of which everything is slow.
struct outlier {
  static constexpr int any = -1;

  std::string measure;
  std::string in;
  std::string unit;
  int from = any;
  int to = any;
  double figure = 0;  ///< of the pair; the median of the PE's pairs
  double ratio = 0;   ///< to the median of its kind of route, without what is slow
};

/// A figure counts as slow when it is worse than this share of the median of its kind,
inline constexpr double slow_share = 0.8;
/// and further from it than this many deviations.
inline constexpr double slow_deviations = 3.5;
/// From fewer PEs, or fewer pairs of a kind, nothing is said: the median could be a slow one itself.
inline constexpr std::size_t fewest_to_judge = 4;

/// First the PEs into or out of which everything is slow, then the pairs that are slow without them; the slowest first.
/// @param kinds of routes: figures are compared with those of the same kind
[[nodiscard]] std::vector<outlier> find_outliers(const pair_map& map, const square<std::string>& kinds);
/// Of all maps, and of the PEs' rates while all put to all.
[[nodiscard]] std::vector<outlier> find_outliers(const world_map& map);

/// "PE 3 -> PE 5: 4.1 GB/s, 0.40 of the median of its kind".
[[nodiscard]] std::string text_of(const outlier& slow);

}  // namespace pgas::perf
