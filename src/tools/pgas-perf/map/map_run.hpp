/// @file
/// Measures the map of a world, step by step, within a limit of time.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "benchmark_world.hpp"
#include "map/map_command.hpp"
#include "map/traffic.hpp"
#include "map/world_map.hpp"

namespace pgas::perf {

/// How long the steps of a map will take.
struct map_estimate {
  std::size_t steps = 0;
  double seconds = 0;
  double milliseconds = 0;  ///< of a run: as the options have it, or less, so that all steps fit their limit
};
[[nodiscard]] map_estimate estimate(const map_options& how, int n_pes);

/// The message to PE 0 before each step.
struct map_progress {
  std::size_t step = 0;  ///< from 0
  std::size_t steps = 0;
  std::string what;  ///< "bandwidth alone, PE 0 -> PE 3"
  double seconds_left = 0;
};

/// What is to be measured, what there is of it, and whether it is all.
struct map_outcome {
  world_map map;
  bool interrupted = false;  ///< on a PE, which asked for it by `ask_to_stop`
};

/// *Callers* all PEs, with equal options. Steps for which there is no time are left out, and counted.
/// @param interrupted is asked after each step whether this PE wants to end
[[nodiscard]] map_outcome measure_map(world& w, const map_options& how, const std::function<bool()>& interrupted,
                                      const std::function<void(const map_progress&)>& progress);

/// The map of a world without any figures: its PEs, and the routes and links between them. *Callers* all PEs.
[[nodiscard]] world_map describe_world(world& w, const map_options& how);

}  // namespace pgas::perf
