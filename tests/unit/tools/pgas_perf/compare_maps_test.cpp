#include "map/compare_maps.hpp"

#include <gtest/gtest.h>

#include "synthetic_map.hpp"

namespace pgas::perf {
namespace {

/// A world with bandwidths and latencies. The figures of one pair are multiplied by the factors.
world_map world_with(double bandwidth_factor, double latency_factor) {
  world_map world = synthetic_world(4, 4);
  const auto times = [](double factor, double value) {
    return [=](std::size_t from, std::size_t to) { return from == 1 && to == 2 ? factor * value : value; };
  };
  world.maps = {synthetic(4, times(bandwidth_factor, 10)), synthetic(4, times(latency_factor, 2), "latency")};
  return world;
}

TEST(compare_maps, equal_maps_have_no_slower_pair) {
  const map_comparison found = compare(world_with(1, 1), world_with(1, 1), 0.1);
  EXPECT_EQ(found.pairs.size(), 24U);
  EXPECT_EQ(found.too_slow(), 0U);
}

TEST(compare_maps, the_slower_pair_is_first_and_named) {
  const map_comparison found = compare(world_with(1, 1), world_with(0.4, 1), 0.1);
  ASSERT_EQ(found.too_slow(), 1U);
  EXPECT_EQ(text_of(found.pairs.front()), "PE 1 -> PE 2, bandwidth alone: 4.00 GB/s, was 10.0, 60 % slower");
}

TEST(compare_maps, half_the_bandwidth_is_as_slow_as_twice_the_latency) {
  EXPECT_NEAR(compare(world_with(1, 1), world_with(0.5, 1), 0.1).pairs.front().slower, 0.5, 1e-9);
  EXPECT_NEAR(compare(world_with(1, 1), world_with(1, 2), 0.1).pairs.front().slower, 0.5, 1e-9);
}

TEST(compare_maps, what_is_within_the_tolerance_or_faster_does_not_count) {
  EXPECT_EQ(compare(world_with(1, 1), world_with(0.95, 1.05), 0.1).too_slow(), 0U);
  EXPECT_EQ(compare(world_with(1, 1), world_with(0.95, 1.05), 0.01).too_slow(), 2U);
  const map_comparison faster = compare(world_with(1, 1), world_with(2, 0.5), 0);
  EXPECT_EQ(faster.too_slow(), 0U);
  EXPECT_LT(faster.pairs.back().slower, 0);
}

TEST(compare_maps, what_only_one_has_is_left_out) {
  world_map now = world_with(0.1, 1);
  now.maps.erase(now.maps.begin());
  EXPECT_EQ(compare(world_with(1, 1), now, 0.1).pairs.size(), 12U);
  world_map before = world_with(1, 1);
  before.maps[0].figures[1][2] = unmeasured;
  EXPECT_EQ(compare(before, world_with(0.1, 1), 0.1).too_slow(), 0U);
}

TEST(compare_maps, other_worlds_are_refused_with_the_reason) {
  const world_map now = synthetic_world(4, 4);
  EXPECT_EQ(why_incomparable(now, now), "");
  EXPECT_EQ(why_incomparable(synthetic_world(2, 2), now), "it is a map of 2 PEs, and this world has 4");
  world_map other = now;
  other.bytes = 65536;
  EXPECT_NE(why_incomparable(other, now).find("--bytes 64K"), std::string::npos);
  other = now;
  other.heap = "cuda";
  EXPECT_NE(why_incomparable(other, now), "");
  other = now;
  other.quick = true;
  EXPECT_NE(why_incomparable(other, now).find("--quick"), std::string::npos);
}

}  // namespace
}  // namespace pgas::perf
