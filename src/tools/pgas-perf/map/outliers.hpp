/// @file
/// Finds the slow PEs and pairs of a map with statistics that a few slow PEs do not change much: the median, and the
/// median of the distances from the median.
#pragma once

#include <string>
#include <vector>

#include "map/world_map.hpp"

namespace pgas::perf {

/// The median; for an even number of values, the mean of the two middle values. Unmeasured if there are no values.
[[nodiscard]] double median_of(std::vector<double> values);
/// The median absolute deviation from `middle`, scaled to the standard deviation of a normal distribution.
[[nodiscard]] double deviation_of(const std::vector<double>& values, double middle);

/// A slow pair, or a PE to or from which all transfers are slow.
struct outlier {
  static constexpr int any = -1;

  std::string measure;
  std::string in;
  std::string unit;
  int from = any;
  int to = any;
  double figure = 0;  ///< the figure of the pair, or the median of the PE's pairs
  double ratio = 0;   ///< relative to the median of the kind of route, without slow pairs
};

/// A figure counts as slow if both conditions hold. It is worse than this share of the median of its kind. Its distance
/// from the median is more than slow_deviations times the median absolute deviation.
inline constexpr double slow_share = 0.8;
/// The number of median absolute deviations, see slow_share.
inline constexpr double slow_deviations = 3.5;
/// With fewer PEs, or fewer pairs of a kind, no pair is reported, because the median itself could be slow.
inline constexpr std::size_t fewest_to_judge = 4;

/// The PEs to or from which all transfers are slow, then the pairs that are slow even without these PEs. The slowest
/// comes first.
/// @param kinds the kinds of routes; a figure is compared with the figures of the same kind
[[nodiscard]] std::vector<outlier> find_outliers(const pair_map& map, const square<std::string>& kinds);
/// The outliers of all maps, and of the PEs' rates while all PEs put to all.
[[nodiscard]] std::vector<outlier> find_outliers(const world_map& map);

/// "PE 3 -> PE 5: 4.1 GB/s, 0.40 of the median of its kind".
[[nodiscard]] std::string text_of(const outlier& slow);

}  // namespace pgas::perf
