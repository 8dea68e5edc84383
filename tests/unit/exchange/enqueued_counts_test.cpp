// The counts of leaving PEs are merged in any order, and any number of times.
#include "host/exchange/enqueued_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace pgas::unit_test {
namespace {

using detail::count_of;
using detail::encode_counts;
using detail::enqueued_count;
using detail::merge_counts;

std::vector<blob> of_four_pes() {
  return {encode_counts(std::vector<enqueued_count>{{.group = 0, .lowest = 7, .lowest_pe = 3}}),
          encode_counts(
              std::vector<enqueued_count>{{.group = 0, .lowest = 5, .lowest_pe = 1}, {.group = 9, .unknown_pe = 1}}),
          encode_counts(std::vector<enqueued_count>{{.group = 9, .lowest = 2, .lowest_pe = 2}}),
          encode_counts(std::vector<enqueued_count>{{.group = 0, .lowest = 5, .lowest_pe = 4}})};
}

TEST(enqueued_counts, the_lowest_is_kept_with_its_pe_in_any_order) {
  std::vector<int> order{0, 1, 2, 3, 1};
  std::ranges::sort(order);
  do {
    blob all;
    for (const int each : order) merge_counts(all, of_four_pes()[static_cast<std::size_t>(each)]);
    const auto world = count_of(all, 0);
    ASSERT_TRUE(world);
    EXPECT_EQ(world->lowest, 5u);
    EXPECT_EQ(world->lowest_pe, 1);
    EXPECT_EQ(world->unknown_pe, -1);
    const auto team = count_of(all, 9);
    ASSERT_TRUE(team);
    EXPECT_EQ(team->lowest, 2u);
    EXPECT_EQ(team->lowest_pe, 2);
    EXPECT_EQ(team->unknown_pe, 1);
    EXPECT_FALSE(count_of(all, 1));
  } while (std::ranges::next_permutation(order).found);
}

TEST(enqueued_counts, of_nobody_are_empty) {
  blob all;
  merge_counts(all, {});
  EXPECT_TRUE(all.empty());
  EXPECT_FALSE(count_of(all, 0));
}

}  // namespace
}  // namespace pgas::unit_test
