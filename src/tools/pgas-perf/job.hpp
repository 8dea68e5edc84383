/// @file
/// What host and kernels of the benchmark share: the shape of a measurement, and what a kernel is told.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pgas/device/packet_channel.hpp"

namespace pgas::perf {

/// Which threads make a call together.
enum class scope { thread, warp, block };

/// One line of the table, but for the row it is of.
struct point {
  scope by = scope::block;
  unsigned blocks = 1;
  unsigned threads = 1;   ///< of each block
  std::size_t bytes = 0;  ///< what the row's description says; 0 for rows without sizes
};

/// Threads of a block that is the one group of its row.
inline constexpr unsigned most_in_group = 512;

/// The kernels' argument, a plain value. All memory is symmetric; data is moved in words of 8 bytes.
struct job {
  const std::uint64_t* source = nullptr;
  std::uint64_t* target = nullptr;
  signal_t* signals = nullptr;           ///< zero before each run
  packet_line* box = nullptr;            ///< the same, for messages of most_in_packets bytes
  std::uint64_t* nanoseconds = nullptr;  ///< of the timed iterations, as this PE sees them: the first block's clock
  std::size_t count = 0;                 ///< words of point::bytes
  std::uint32_t warmup = 0;  ///< iterations before the clock starts; at least one, so that all PEs have come
  std::uint32_t iterations = 0;
  std::int32_t from = 0;  ///< the PE that rows between two PEs look from
  std::int32_t to = 1;    ///< the other one

  [[nodiscard]] PGAS_HD std::uint32_t rounds() const { return warmup + iterations; }
};

/// Words that source and target have at least: for small messages one behind the other, for a word of each thread.
inline constexpr std::size_t room_words = std::size_t{1} << 18;
/// Words in job::signals.
inline constexpr std::size_t signal_words = 64;
/// The longest message through a packet_channel.
inline constexpr std::size_t most_in_packets = std::size_t{16} << 10;

}  // namespace pgas::perf
