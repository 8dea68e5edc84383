/// @file
/// Compares a map with an earlier map of the same world.
#pragma once

#include <string>
#include <vector>

#include "map/world_map.hpp"

namespace pgas::perf {

/// The comparison of one pair.
struct pair_change {
  std::string measure;
  std::string in;
  std::string unit;
  std::size_t from = 0;
  std::size_t to = 0;
  double before = 0;
  double now = 0;
  double slower = 0;  ///< the share of the earlier speed that is lost; less than 0 if the pair is faster
};

struct map_comparison {
  std::vector<pair_change> pairs;  ///< the pairs that both maps contain, in descending order of `slower`
  double tolerance = 0;            ///< the tolerated share

  /// The number of pairs that are slower than tolerated. These pairs are the first in `pairs`.
  [[nodiscard]] std::size_t too_slow() const;
};

/// The reason why two maps cannot be compared; empty if the maps can be compared.
[[nodiscard]] std::string why_incomparable(const world_map& before, const world_map& now);

[[nodiscard]] map_comparison compare(const world_map& before, const world_map& now, double tolerance);

/// "PE 0 -> PE 1, bandwidth alone: 4.1 GB/s, was 9.9, 59 % slower".
[[nodiscard]] std::string text_of(const pair_change& change);

}  // namespace pgas::perf
