/// @file
/// Measures the map of a world step by step within a time limit.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "benchmark_world.hpp"
#include "map/map_command.hpp"
#include "map/traffic.hpp"
#include "map/world_map.hpp"

namespace pgas::perf {

/// The expected duration of the steps of a map.
struct map_estimate {
  std::size_t steps = 0;
  double seconds = 0;
  /// The duration of a run: as in the options, or shorter, so that all steps fit into the time limit.
  double milliseconds = 0;
};
[[nodiscard]] map_estimate estimate(const map_options& how, int n_pes);

/// The progress that PE 0 reports before each step.
struct map_progress {
  std::size_t step = 0;  ///< counted from 0
  std::size_t steps = 0;
  std::string what;  ///< "bandwidth alone, PE 0 -> PE 3"
  double seconds_left = 0;
};

/// The requested steps, the measured steps, and whether the map is complete.
struct map_outcome {
  world_map map;
  bool interrupted = false;  ///< the function `interrupted` has returned true on a PE
};

/// Measures the map. Steps that do not fit into the time limit are omitted and counted.
/// *Callers* all PEs, with equal options.
/// @param interrupted called after each step; returns whether this PE wants to end
[[nodiscard]] map_outcome measure_map(world& w, const map_options& how, const std::function<bool()>& interrupted,
                                      const std::function<void(const map_progress&)>& progress);

/// A map that has no figures yet: the PEs of the world, and the routes and links between them. *Callers* all PEs.
[[nodiscard]] world_map describe_world(world& w, const map_options& how);

}  // namespace pgas::perf
