/// @file
/// A row of the benchmark: the operation measured, its sizes and shapes, and the check of its data. A row is defined in
/// one place, the file with its kernel; the lists of these files are declared below and joined in benchmark_list.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pgas/device/packet_channel.hpp"

namespace pgas::perf {

/// Which threads make a call together.
enum class scope { thread, warp, block };

/// The launch and the size of one measurement: a line of the table.
struct point {
  scope by = scope::block;
  unsigned blocks = 1;
  unsigned threads = 1;   ///< of each block
  std::size_t bytes = 0;  ///< the size as the row defines it; 0 for rows without sizes
};

/// Most threads of the block in a row of shape::group.
inline constexpr unsigned max_group_threads = 512;

/// The kernels' argument, a plain value. All memory is symmetric; data is moved in words of 8 bytes.
struct job {
  const std::uint64_t* source = nullptr;
  std::uint64_t* target = nullptr;
  signal_t* signals = nullptr;           ///< zero before each run
  packet_line* box = nullptr;            ///< zero before each run; for messages of max_packet_bytes
  std::uint64_t* nanoseconds = nullptr;  ///< of the timed iterations, by this PE's first block
  std::size_t count = 0;                 ///< words of point::bytes
  std::uint32_t warmup = 0;  ///< iterations before the clock starts; at least one, so that all PEs have begun
  std::uint32_t iterations = 0;
  std::int32_t from = 0;  ///< the PE that measures, in rows between two PEs
  std::int32_t to = 1;    ///< the other one

  [[nodiscard]] PGAS_HD std::uint32_t rounds() const { return warmup + iterations; }
};

/// Least size of source and target in words: for many small messages, and for a word of each thread.
inline constexpr std::size_t buffer_words = std::size_t{1} << 18;
/// Words in job::signals.
inline constexpr std::size_t signal_words = 64;
/// The longest message through a packet_channel.
inline constexpr std::size_t max_packet_bytes = std::size_t{16} << 10;

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
