/// @file
/// A row of the benchmark: the measured operation, its sizes and shapes, and the check of its data. A row is defined in
/// the file of its kernel. Each of these files returns a list of rows. The functions are declared below, and
/// benchmark_list.cpp joins the lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pgas/device/packet_channel.hpp"

namespace pgas::perf {

/// The threads that make a call together.
enum class scope { thread, warp, block };

/// A measurement, which is a line of the table: its launch and its size.
struct point {
  scope by = scope::block;
  unsigned blocks = 1;
  unsigned threads = 1;   ///< threads of each block
  std::size_t bytes = 0;  ///< the size, as the benchmark defines it; 0 if the benchmark has no size
};

/// The largest number of threads in the block of a row of shape::group.
inline constexpr unsigned max_group_threads = 512;

/// The argument of the kernels, a plain value. All memory is symmetric. Data is moved in words of 8 bytes.
struct job {
  const std::uint64_t* source = nullptr;
  std::uint64_t* target = nullptr;
  signal_t* signals = nullptr;           ///< zero before each run
  packet_line* box = nullptr;            ///< zero before each run; holds messages of up to max_packet_bytes
  std::uint64_t* nanoseconds = nullptr;  ///< the time of the timed iterations, written by this PE's first block
  std::size_t count = 0;                 ///< the number of words in point::bytes
  /// The number of iterations before the clock starts; at least one, so that all PEs have begun.
  std::uint32_t warmup = 0;
  std::uint32_t iterations = 0;
  std::int32_t from = 0;  ///< the PE that measures, in rows between two PEs
  std::int32_t to = 1;    ///< the other PE

  [[nodiscard]] PGAS_HD std::uint32_t rounds() const { return warmup + iterations; }
};

/// The minimum size of source and target in words, sufficient for many small messages, and for one word per thread.
inline constexpr std::size_t buffer_words = std::size_t{1} << 18;
/// The number of words in job::signals.
inline constexpr std::size_t signal_words = 64;
/// The longest message through a packet_channel.
inline constexpr std::size_t max_packet_bytes = std::size_t{16} << 10;

class benchmark_world;

/// The quantity that a row measures.
enum class figure {
  bandwidth,  ///< GB/s: 10^9 bytes per second
  rate,       ///< millions of operations per second
  latency,    ///< microseconds per iteration
  size,       ///< MiB; no time is measured
};

/// The launches with which a row is measured.
enum class shape {
  grid,   ///< a launch for each number of blocks in --blocks
  group,  ///< one group, which is a thread, a warp or a block
  host,   ///< no launch: the host calls the operation
};

struct row {
  std::string_view name;
  std::string_view about;
  figure is = figure::latency;
  shape by = shape::group;
  std::size_t least_bytes = 0;  ///< the limits of the sizes; if both limits are 0, the row has no sizes
  std::size_t most_bytes = 0;
  bool pair = false;  ///< whether only the two PEs of --pair are measured; the other PEs take part in barriers
  /// The bytes or operations of one iteration, from which bandwidths and rates are computed.
  std::function<double(const benchmark_world&, const point&)> work;
  /// Runs job::warmup and then job::iterations iterations. Returns the nanoseconds that the job::iterations iterations
  /// took on this PE. For figure::size, returns a number of bytes.
  std::function<double(benchmark_world&, const point&, const job&)> run;
  /// The number of wrong words on this PE after the last run.
  std::function<std::uint64_t(benchmark_world&, const point&, const job&)> wrong;
  bool each_alone = false;  ///< whether each thread calls the operation alone, so that scopes do not apply
  bool slow = false;        ///< whether a run is one iteration, after one iteration of warm-up
};

/// The value of row::most_bytes in a row without an upper limit.
inline constexpr std::size_t no_limit = ~std::size_t{0};

/// Whether `pattern` matches the row's name. The first or the last character of the pattern may be `*`, for any text.
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

/// Rows that the host measures: its calls, calls on a stream, joining, allocating, and the memory that a PE uses.
[[nodiscard]] std::vector<row> host_rows();

/// All rows, with the kernels for the host heap or for GPUs. *Errors* launch_failed if this build has no kernels for
/// GPUs.
[[nodiscard]] std::vector<row> all_rows(bool gpu);

}  // namespace pgas::perf
