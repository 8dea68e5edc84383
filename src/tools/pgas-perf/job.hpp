/// @file
/// Values that host and kernels of the benchmark share: the launch of a measurement, and the kernels' argument.
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace pgas::perf
