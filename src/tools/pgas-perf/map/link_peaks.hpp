/// @file
/// What the way from one PE of a map to another can do at best: what NVLink or PCIe of the two GPUs carries, or, where
/// that is not known, what the best pair of the same kind reached.
#pragma once

#include <string>
#include <string_view>

#include "map/world_map.hpp"

namespace pgas::perf {

/// What the link from one PE to another can do.
struct link_peak {
  /// 1e9 bytes per second, one way.
  double gb_per_s = unmeasured;
  std::string source;  ///< "NVLink", "PCIe", or best_pair
};
inline constexpr std::string_view best_pair = "best pair alone";

/// The peaks of all pairs: the link's own where it is known, else the bandwidth of the best pair of the same kind of
/// route, measured alone; unmeasured where there is neither.
[[nodiscard]] square<link_peak> peaks_of(const world_map& map);

}  // namespace pgas::perf
