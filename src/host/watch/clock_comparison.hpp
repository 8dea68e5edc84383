/// @file
/// Measures the differences between the clocks of the PEs of a world by barriers: no PE leaves a barrier before every
/// PE has arrived. Also measures the difference between the clock that kernels read and the clock of their PE.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "device/device.hpp"

namespace pgas::detail {

class control_group;

/// The times at which a PE arrived at the barriers of a comparison and left them, on the clock of the PE.
struct barrier_times {
  static constexpr std::size_t rounds = 16;
  std::array<std::int64_t, rounds> come{};
  std::array<std::int64_t, rounds> left{};
};

/// The difference between two clocks, such as the clock of this PE and the clock of PE 0. The number of nanoseconds to
/// add to a time of the first clock is at least `low` and at most `high`.
struct clock_difference {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t at = 0;  ///< the time of the comparison on the first clock

  [[nodiscard]] std::int64_t middle() const noexcept { return low + (high - low) / 2; }
  [[nodiscard]] std::int64_t error() const noexcept { return (high - low + 1) / 2; }
};

/// The narrowest bounds that follow from the barriers. The bounds are correct, even if a barrier took a long time.
[[nodiscard]] clock_difference difference(const barrier_times& mine, const barrier_times& of_first);

/// The difference from the clock of kernels to the clock of this PE. *Requires* at least one reading
[[nodiscard]] clock_difference difference(std::span<const clock_reading> readings);

struct clock_comparison {
  clock_difference to_first;
  std::uint64_t job = 0;  ///< a random number of PE 0 for the job; very rarely equal for two jobs
};

/// Collective over the world. PEs of one host have the same clock, so the difference and the error are zero, unless the
/// PEs are in different time namespaces.
[[nodiscard]] clock_comparison compare_clocks(const control_group& everyone);

/// Converts times of one clock to times of another clock, by means of two comparisons. Assumes that the clocks run
/// evenly between the two comparisons.
class clock_mapping {
 public:
  clock_mapping() = default;
  clock_mapping(const clock_difference& begin, const clock_difference& end) noexcept : begin_(begin), end_(end) {}
  /// Uses a single comparison. Assumes a drift of at most 500 parts per million until the time `last`, for clocks that
  /// the system disciplines.
  clock_mapping(const clock_difference& begin, std::int64_t last) noexcept;

  [[nodiscard]] std::int64_t mapped(std::int64_t time) const noexcept;
  [[nodiscard]] std::int64_t error() const noexcept;

 private:
  clock_difference begin_;
  clock_difference end_;
};

}  // namespace pgas::detail
