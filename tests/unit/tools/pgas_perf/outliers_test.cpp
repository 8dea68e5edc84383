#include "map/outliers.hpp"

#include <gtest/gtest.h>

#include "synthetic_map.hpp"

namespace pgas::perf {
namespace {

std::vector<std::string> texts(const std::vector<outlier>& found) {
  std::vector<std::string> all;
  for (const outlier& each : found) all.push_back(text_of(each));
  return all;
}

using words = std::vector<std::string>;

TEST(outliers, median_and_deviation) {
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 3, 2}), 2.5);
  EXPECT_TRUE(std::isnan(median_of({})));
  EXPECT_NEAR(deviation_of({1, 2, 3, 4, 100}, 3), 1.4826, 1e-9);  // the distances 2 1 0 1 97 have the median 1
}

TEST(outliers, figures_that_hardly_differ_have_none) {
  const world_map world = synthetic_world(8, 8);
  EXPECT_TRUE(find_outliers(synthetic(8, [](auto from, auto to) { return about(10, from, to); }), world.kinds).empty());
  EXPECT_TRUE(find_outliers(synthetic(8, [](auto, auto) { return 10; }), world.kinds).empty());
}

TEST(outliers, a_slow_pair_is_named_with_its_ratio) {
  const world_map world = synthetic_world(8, 8);
  const pair_map map =
      synthetic(8, [](auto from, auto to) { return from == 3 && to == 5 ? 4.1 : about(10, from, to); });
  EXPECT_EQ(texts(find_outliers(map, world.kinds)), words{"PE 3 -> PE 5: 4.10 GB/s, 0.4 of the median of its kind"});
}

TEST(outliers, more_time_is_slow_and_less_is_not) {
  const world_map world = synthetic_world(6, 6);
  const auto latency = [&](double planted) {
    return find_outliers(
        synthetic(
            6, [&](auto from, auto to) { return from == 1 && to == 0 ? planted : about(2, from, to); }, "latency"),
        world.kinds);
  };
  EXPECT_EQ(texts(latency(8.2)), words{"PE 1 -> PE 0: 8.20 us, 4 of the median of its kind"});
  EXPECT_TRUE(latency(0.1).empty());
}

TEST(outliers, a_pe_into_which_all_is_slow_is_found_first_and_its_pairs_are_not_named) {
  const world_map world = synthetic_world(6, 6);
  const pair_map map = synthetic(6, [](auto from, auto to) {
    if (from == 0 && to == 4) return 5.1;
    return to == 3 ? about(4, from, to) : about(10, from, to);
  });
  EXPECT_EQ(texts(find_outliers(map, world.kinds)),
            (words{"everything into PE 3 is slow: median 4.12 GB/s, 0.4 of its kind's",
                   "PE 0 -> PE 4: 5.10 GB/s, 0.5 of the median of its kind"}));
}

TEST(outliers, a_pe_that_is_slow_both_ways_is_found_among_four_where_half_of_the_pairs_are_slow) {
  const world_map world = synthetic_world(4, 4);
  const pair_map map = synthetic(4, [](auto from, auto to) { return from == 3 || to == 3 ? 4.0 : 10.0; });
  const std::vector<outlier> found = find_outliers(map, world.kinds);
  ASSERT_EQ(found.size(), 2U);
  for (const outlier& each : found) {
    EXPECT_TRUE((each.from == 3 && each.to == outlier::any) || (each.to == 3 && each.from == outlier::any));
    EXPECT_NEAR(each.ratio, 0.4, 1e-9);
  }
}

TEST(outliers, routes_of_different_kinds_are_not_compared) {
  const world_map world = synthetic_world(8, 4);  // 24 direct pairs, 32 proxied ones
  const auto figure = [&](std::size_t from, std::size_t to) { return about(from / 4 == to / 4 ? 300 : 10, from, to); };
  EXPECT_TRUE(find_outliers(synthetic(8, figure), world.kinds).empty());
  const pair_map slow = synthetic(8, [&](auto from, auto to) { return from == 0 && to == 1 ? 120 : figure(from, to); });
  EXPECT_EQ(texts(find_outliers(slow, world.kinds)), words{"PE 0 -> PE 1: 120 GB/s, 0.39 of the median of its kind"});
}

TEST(outliers, what_varies_widely_has_none) {
  const world_map world = synthetic_world(6, 6);
  const pair_map map =
      synthetic(6, [](auto from, auto to) { return 4.0 + static_cast<double>((from * 5 + to * 3) % 9); });
  EXPECT_TRUE(find_outliers(map, world.kinds).empty());
}

TEST(outliers, a_few_pes_are_not_judged_and_neither_is_what_was_not_measured) {
  const world_map three = synthetic_world(2, 2);
  EXPECT_TRUE(find_outliers(synthetic(2, [](auto from, auto) { return from == 0 ? 1 : 10; }), three.kinds).empty());
  const world_map world = synthetic_world(6, 6);
  EXPECT_TRUE(
      find_outliers(synthetic(6, [](auto from, auto to) { return from == 2 || to < 3 ? unmeasured : 10; }), world.kinds)
          .empty());
}

TEST(outliers, a_pe_that_is_slow_when_all_put_to_all) {
  world_map world = synthetic_world(5, 5);
  world.all_pairs = {20, 21, 8, 20.5, 20};
  EXPECT_EQ(texts(find_outliers(world)), words{"PE 2 is slow when all put to all: 8.00 GB/s, 0.4 of the median"});
}

}  // namespace
}  // namespace pgas::perf
