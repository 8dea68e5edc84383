/// @file
/// A row of the benchmark: the operation measured, its sizes and shapes, and the check of its data. A row is defined in
/// one place, the file with its kernel; the lists of these files are declared below and joined in rows.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "job.hpp"

namespace pgas::perf {

class benchmark_world;

/// The quantity that a row measures.
enum class figure {
  bandwidth,  ///< GB/s, 10^9 bytes a second
  rate,       ///< millions of operations a second
  latency,    ///< microseconds for an iteration
  size,       ///< MiB; nothing is timed
};

/// The launches that a row is measured with.
enum class shape {
  grid,   ///< each number of blocks of --blocks
  group,  ///< one group: a thread, a warp or a block
  host,   ///< none: called by the host
};

struct row {
  std::string_view name;
  std::string_view about;
  figure is = figure::latency;
  shape by = shape::group;
  std::size_t least_bytes = 0;  ///< both 0: without sizes
  std::size_t most_bytes = 0;
  bool pair = false;  ///< between the two PEs of --pair; the rest only take part in barriers
  /// Bytes or operations of one iteration, from which bandwidths and rates are computed.
  std::function<double(const benchmark_world&, const point&)> work;
  /// Runs job::warmup and then job::iterations iterations. Returns the nanoseconds of the latter, or bytes, on this PE.
  std::function<double(benchmark_world&, const point&, const job&)> run;
  /// How many words of this PE are wrong after the last run.
  std::function<std::uint64_t(benchmark_world&, const point&, const job&)> wrong;
  bool each_alone = false;  ///< every thread acts by itself: scopes do not apply
  bool slow = false;        ///< a run is one iteration, after one of warm-up
};

/// row::most_bytes of a row without an upper limit.
inline constexpr std::size_t no_limit = ~std::size_t{0};

/// Whether `pattern` is the row's name, or a `*` with the beginning or the end of it.
[[nodiscard]] bool matches(std::string_view pattern, const row& r);
[[nodiscard]] std::string_view name_of(scope by);
[[nodiscard]] std::string_view unit_of(const row& r);

/// Rows measured in kernels, compiled for the host heap and for GPUs.
namespace on_host {
[[nodiscard]] std::vector<row> atomic_rows();
[[nodiscard]] std::vector<row> collective_rows();
[[nodiscard]] std::vector<row> copy_rows();
[[nodiscard]] std::vector<row> halo_rows();
[[nodiscard]] std::vector<row> ping_pong_rows();
}  // namespace on_host
namespace on_gpu {
[[nodiscard]] std::vector<row> atomic_rows();
[[nodiscard]] std::vector<row> collective_rows();
[[nodiscard]] std::vector<row> copy_rows();
[[nodiscard]] std::vector<row> halo_rows();
[[nodiscard]] std::vector<row> ping_pong_rows();
}  // namespace on_gpu

/// Rows measured by the host: its calls, calls on a stream, joining, allocating, and the memory that a PE takes.
[[nodiscard]] std::vector<row> host_rows();

/// All rows, with the kernels for the host heap or for GPUs. *Errors* launch_failed where this build has none for GPUs.
[[nodiscard]] std::vector<row> all_rows(bool gpu);

}  // namespace pgas::perf
