/// @file
/// A summary of a map for the terminal and the page: for each measure and pattern, the figures of each kind of route.
#pragma once

#include <string>
#include <vector>

#include "map/world_map.hpp"

namespace pgas::perf {

struct summary_line {
  std::string measure;
  std::string in;
  std::string kind;  ///< the kind of route; for the pattern "all": "out of each PE"
  std::size_t pairs = 0;
  double lowest = unmeasured;
  double median = unmeasured;
  double highest = unmeasured;
  std::string unit;
  double share = unmeasured;  ///< the median as a share of the peak
};

[[nodiscard]] std::vector<summary_line> summary_of(const world_map& map);

/// One line for each peak to which map_summary::share refers: "the peak is that of the best pair alone: 10.4 GB/s
/// (direct, same host)".
[[nodiscard]] std::vector<std::string> peak_lines(const world_map& map);

/// The median of the figures of transfers out of this PE, or of transfers into this PE.
[[nodiscard]] double median_of_line(const pair_map& map, std::size_t pe, bool out);

/// Describes the measured world: "4 PEs on 1 host, host memory".
[[nodiscard]] std::string world_line(const world_map& map);
/// Describes what is missing or wrong. Empty if all steps were measured and all data was correct.
[[nodiscard]] std::string complaint_line(const world_map& map);

/// The title of a map: "bandwidth alone, GB/s".
[[nodiscard]] std::string title_of(const pair_map& map);

}  // namespace pgas::perf
