/// @file
/// Measuring a row at the points that the options ask for.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "benchmark_list.hpp"
#include "benchmark_world.hpp"
#include "options.hpp"

namespace pgas::perf {

struct result {
  const row* of = nullptr;
  point at;
  std::uint32_t iterations = 0;
  std::vector<double> samples;  ///< in the row's unit, one for each run, in their order
  std::uint64_t wrong = 0;      ///< words, over all PEs
  bool checked = false;

  [[nodiscard]] double median() const;
  [[nodiscard]] double least() const;
  [[nodiscard]] double most() const;
};

/// The points that a row is measured at; none where the row needs more PEs than the world has.
[[nodiscard]] std::vector<point> points_of(const row& r, const options& how, world& w);

/// Iterations of a run of `milliseconds`, estimated from ever longer runs. @param run takes the iterations and returns
/// the nanoseconds that they took, the same on all PEs
[[nodiscard]] std::uint32_t enough_iterations(double milliseconds, const std::function<double(std::uint32_t)>& run);

/// Measures one point. *Callers* all PEs.
[[nodiscard]] result measure(benchmark_world& s, const options& how, const row& r, const point& at);

}  // namespace pgas::perf
