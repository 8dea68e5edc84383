/// @file
/// The peak rate between two PEs of a map: the rate of NVLink or PCIe between their GPUs. If neither rate is known, the
/// peak is the rate of the best pair with the same kind of route.
#pragma once

#include <string>
#include <string_view>

#include "map/world_map.hpp"

namespace pgas::perf {

/// The peak bandwidth of the link from one PE to another.
struct link_peak {
  /// 10^9 bytes per second, in one direction.
  double gb_per_s = unmeasured;
  std::string source;  ///< "NVLink", "PCIe", or best_pair
};
inline constexpr std::string_view best_pair = "best pair alone";

/// The peaks of all pairs. The peak of a pair is the peak of its link. If the peak of the link is not known, the peak
/// of the pair is the bandwidth of the best pair with the same kind of route, measured alone. Unmeasured if neither is
/// known.
[[nodiscard]] square<link_peak> peaks_of(const world_map& map);

}  // namespace pgas::perf
