/// @file
/// How the clocks of the PEs of a world differ, as barriers tell: no PE leaves one before every PE has come; and how
/// the clock that kernels read differs from their PE's.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "device/device.hpp"

namespace pgas::detail {

class control_group;

/// When a PE came to the barriers of a comparison, and when it left them, by its own clock.
struct barrier_times {
  static constexpr std::size_t rounds = 16;
  std::array<std::int64_t, rounds> come{};
  std::array<std::int64_t, rounds> left{};
};

/// Nanoseconds to add to the time of one clock for that of another, such as PE 0's: at least `low`, at most `high`.
struct clock_difference {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t at = 0;  ///< the first clock's time of the comparison

  [[nodiscard]] std::int64_t middle() const noexcept { return low + (high - low) / 2; }
  [[nodiscard]] std::int64_t error() const noexcept { return (high - low + 1) / 2; }
};

/// The narrowest bounds that the barriers give. They are certain, however long a barrier took.
[[nodiscard]] clock_difference difference(const barrier_times& mine, const barrier_times& of_first);

/// Of the clock of kernels to this PE's. *Requires* a reading
[[nodiscard]] clock_difference difference(std::span<const clock_reading> readings);

struct clock_comparison {
  clock_difference to_first;
  std::uint64_t job = 0;  ///< a number that the PE 0 made for all, which other jobs hardly have
};

/// Collective over the world. PEs of one host have the same clock, unless they are in different time namespaces:
/// no difference and no error.
[[nodiscard]] clock_comparison compare_clocks(const control_group& everyone);

/// The time of one clock on another, as two comparisons tell; clocks run evenly in between.
class clock_mapping {
 public:
  clock_mapping() = default;
  clock_mapping(const clock_difference& begin, const clock_difference& end) noexcept : begin_(begin), end_(end) {}
  /// Where there was no second comparison: clocks that are disciplined drift by 500 millionths at most until `last`.
  clock_mapping(const clock_difference& begin, std::int64_t last) noexcept;

  [[nodiscard]] std::int64_t mapped(std::int64_t time) const noexcept;
  [[nodiscard]] std::int64_t error() const noexcept;

 private:
  clock_difference begin_;
  clock_difference end_;
};

}  // namespace pgas::detail
