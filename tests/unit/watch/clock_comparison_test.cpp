// The comparison of clocks by barriers, for clocks with a known difference.
#include "host/watch/clock_comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace pgas::detail;

/// Barriers of two PEs. The PEs arrive up to `spread` ns apart, and leave up to `spread` ns after the later PE has
/// arrived. The second clock is ahead of the first by `ahead`.
std::pair<barrier_times, barrier_times> played(std::int64_t ahead, std::int64_t spread, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::int64_t> some(0, spread);
  std::pair<barrier_times, barrier_times> result;
  std::int64_t now = 1'000'000'000;
  for (std::size_t i = 0; i < barrier_times::rounds; ++i) {
    const std::int64_t first = now + some(random);
    const std::int64_t second = now + some(random);
    const std::int64_t both = std::max(first, second);
    result.first.come[i] = first;
    result.second.come[i] = second + ahead;
    result.first.left[i] = both + some(random);
    result.second.left[i] = both + some(random) + ahead;
    now = both + 2 * spread;
  }
  return result;
}

TEST(clock_comparison, the_true_difference_is_within_the_bounds) {
  for (const std::int64_t ahead : {std::int64_t{0}, std::int64_t{123'456'789}, std::int64_t{-5'000'000'000}})
    for (unsigned seed = 0; seed < 200; ++seed) {
      const auto [first, second] = played(ahead, 20'000, seed);
      const clock_difference found = difference(second, first);
      EXPECT_LE(found.low, -ahead);
      EXPECT_GE(found.high, -ahead);
      EXPECT_LE(std::abs(found.middle() + ahead), found.error());
      EXPECT_LE(found.error(), 20'000);  // a single barrier has an error of at most 40'000 on each side
    }
}

TEST(clock_comparison, one_quick_barrier_is_enough) {
  auto [first, second] = played(700, 1'000'000, 1);
  first.come[5] = 50'000'000'000;
  first.left[5] = 50'000'000'100;
  second.come[5] = 50'000'000'010 + 700;
  second.left[5] = 50'000'000'090 + 700;
  EXPECT_LE(difference(second, first).error(), 100);
}

TEST(clock_comparison, the_first_pe_differs_from_itself_by_nothing) {
  const auto [first, second] = played(0, 1000, 3);
  const clock_difference found = difference(first, first);
  EXPECT_LE(found.low, 0);
  EXPECT_GE(found.high, 0);
}

TEST(clock_comparison, readings_of_the_clock_of_kernels_bound_it) {
  // The device's clock is behind by 1000. Each reading was taken between the two readings of the host's clock.
  const std::vector<clock_reading> readings = {{5'000, 4'040, 5'100}, {6'000, 5'010, 6'300}, {7'000, 6'100, 7'120}};
  const clock_difference found = difference(readings);
  EXPECT_EQ(found.low, 990);
  EXPECT_EQ(found.high, 1'020);
  EXPECT_EQ(found.at, 6'100);
}

TEST(clock_comparison, a_clock_in_steps_has_an_error_too) {
  // the clock advances in steps of 1000
  const std::vector<clock_reading> readings = {{5'000, 4'000, 5'010}, {6'900, 5'000, 6'910}};
  const clock_difference found = difference(readings);
  EXPECT_LE(found.low, found.high);
  EXPECT_GT(found.error(), 0);
}

TEST(clock_mapping, is_even_between_two_comparisons) {
  const clock_mapping map({90, 110, 1'000}, {190, 210, 2'000});
  EXPECT_EQ(map.mapped(1'000), 1'100);
  EXPECT_EQ(map.mapped(1'500), 1'650);
  EXPECT_EQ(map.mapped(2'000), 2'200);
  EXPECT_EQ(map.error(), 10);
}

TEST(clock_mapping, the_error_grows_where_there_was_no_second_comparison) {
  const clock_mapping map({-10, 10, 0}, 1'000'000);
  EXPECT_EQ(map.mapped(1'000'000), 1'000'000);
  EXPECT_EQ(map.error(), 510);
  const clock_mapping same({0, 0, 0}, 1'000'000);
  EXPECT_EQ(same.error(), 0) << "one clock does not drift from itself";
}

}  // namespace
