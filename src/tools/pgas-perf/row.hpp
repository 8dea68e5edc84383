/// @file
/// A row of the benchmark: what is measured, over which sizes and shapes, and how its data is checked. A row is written
/// in one place, the file with its kernel; rows.cpp lists those files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "job.hpp"

namespace pgas::perf {

class session;

/// What the figure of a row is.
enum class figure {
  bandwidth,  ///< GB/s, 10^9 bytes a second
  rate,       ///< millions of operations a second
  latency,    ///< microseconds for an iteration
  size,       ///< MiB: nothing is timed
};

/// Which launches a row is measured with.
enum class shape {
  grid,   ///< every number of blocks that was asked for
  group,  ///< one group: a thread, a warp or a block
  host,   ///< none: the host calls
};

struct row {
  std::string_view name;
  std::string_view about;
  figure is = figure::latency;
  shape by = shape::group;
  std::size_t least_bytes = 0;  ///< both 0: without sizes
  std::size_t most_bytes = 0;
  bool pair = false;  ///< between two PEs; all others watch
  /// Bytes or operations of one iteration, by which bandwidths and rates are counted.
  std::function<double(const session&, const point&)> work;
  /// Carries out job::warmup and job::iterations iterations; the nanoseconds of the latter, or bytes, as this PE sees
  /// them.
  std::function<double(session&, const point&, const job&)> run;
  /// How many words of this PE are not what the last run should have left there.
  std::function<std::uint64_t(session&, const point&, const job&)> wrong;
  bool each_alone = false;  ///< every thread acts by itself: no scopes
  bool slow = false;        ///< one iteration makes a run, behind one of warm-up
};

/// Any size.
inline constexpr std::size_t no_limit = ~std::size_t{0};

/// Whether `word` stands for the row: its name, or its beginning before a `*`, or its end behind one.
[[nodiscard]] bool stands_for(std::string_view word, const row& r);
[[nodiscard]] std::string_view name_of(scope by);
[[nodiscard]] std::string_view unit_of(const row& r);

/// All rows of a build, those in kernels for host heaps or for GPUs. *Errors* launch_failed where it has none for GPUs.
[[nodiscard]] std::vector<row> all_rows(bool gpu);

}  // namespace pgas::perf
