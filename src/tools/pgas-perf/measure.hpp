/// @file
/// Measures a row at the points that the options request.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "benchmark_list.hpp"
#include "benchmark_world.hpp"
#include "options.hpp"

namespace pgas::perf {

struct result {
  const row* benchmark = nullptr;
  point at;
  std::uint32_t iterations = 0;
  std::vector<double> samples;  ///< one figure for each run in the row's unit, in the order of the runs
  std::uint64_t wrong = 0;      ///< the number of wrong words over all PEs
  bool checked = false;

  [[nodiscard]] double median() const;
  [[nodiscard]] double least() const;
  [[nodiscard]] double most() const;
};

/// The points at which a row is measured. Empty if the row needs more PEs than the world has.
[[nodiscard]] std::vector<point> points_of(const row& r, const options& how, world& w);

/// The number of iterations for a run of `milliseconds`, estimated from runs of growing length.
/// @param run executes the iterations and returns their nanoseconds, the same on all PEs
[[nodiscard]] std::uint32_t enough_iterations(double milliseconds, const std::function<double(std::uint32_t)>& run);

/// Measures one point. *Callers* all PEs.
[[nodiscard]] result measure(benchmark_world& s, const options& how, const row& r, const point& at);

}  // namespace pgas::perf
