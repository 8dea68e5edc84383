#include "map/traffic_steps.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace pgas::perf {
namespace {

using ordered_pairs = std::multiset<std::pair<int, int>>;

/// All pairs of PEs that transfer data in the steps.
ordered_pairs pairs_in(const std::vector<traffic_step>& steps) {
  ordered_pairs found;
  for (const traffic_step& step : steps)
    for (std::size_t pe = 0; pe < step.to.size(); ++pe)
      if (step.to[pe] >= 0) found.emplace(static_cast<int>(pe), step.to[pe]);
  return found;
}

ordered_pairs all_pairs(int n) {
  ordered_pairs all;
  for (int from = 0; from < n; ++from)
    for (int to = 0; to < n; ++to)
      if (from != to) all.emplace(from, to);
  return all;
}

std::size_t busy_pes(const traffic_step& step) {
  std::size_t busy = 0;
  for (const int to : step.to) busy += to >= 0 ? 1 : 0;
  return busy;
}

TEST(traffic_steps, every_pair_meets_once_and_rounds_are_disjoint) {
  for (int n = 0; n <= 17; ++n) {
    std::set<std::pair<int, int>> met;
    const auto rounds = tournament(n);
    if (n >= 2) {
      EXPECT_EQ(rounds.size(), static_cast<std::size_t>(n % 2 == 0 ? n - 1 : n)) << n;
    }
    for (const auto& round : rounds) {
      std::set<int> here;
      for (const auto& [a, b] : round) {
        EXPECT_TRUE(a >= 0 && b >= 0 && a < n && b < n) << n;
        EXPECT_TRUE(here.insert(a).second && here.insert(b).second) << n << ": a PE has two partners";
        EXPECT_TRUE(met.emplace(std::minmax(a, b)).second) << n << ": " << a << " meets " << b << " again";
      }
      EXPECT_EQ(here.size(), static_cast<std::size_t>(n / 2 * 2)) << n << ": a PE rests that need not";
    }
    EXPECT_EQ(met.size(), static_cast<std::size_t>(n > 1 ? n * (n - 1) / 2 : 0)) << n;
  }
}

TEST(traffic_steps, alone_means_one_pair_at_a_time) {
  for (int n = 1; n <= 9; ++n) {
    const auto steps = steps_of(pattern::alone, n, false);
    EXPECT_EQ(pairs_in(steps), all_pairs(n));
    for (const traffic_step& step : steps) EXPECT_EQ(busy_pes(step), 1U);
  }
}

TEST(traffic_steps, quick_has_every_pair_once_and_no_pe_twice_at_once) {
  for (int n = 2; n <= 9; ++n) {
    const auto steps = steps_of(pattern::alone, n, true);
    EXPECT_EQ(pairs_in(steps), all_pairs(n));
    EXPECT_EQ(steps.size(), 2 * tournament(n).size());
    for (const traffic_step& step : steps) {
      std::set<int> here;
      for (std::size_t pe = 0; pe < step.to.size(); ++pe) {
        if (step.to[pe] < 0) continue;
        EXPECT_TRUE(here.insert(static_cast<int>(pe)).second && here.insert(step.to[pe]).second);
      }
    }
  }
}

TEST(traffic_steps, shift_and_incast_have_every_pair_once) {
  for (int n = 2; n <= 9; ++n) {
    const auto shifts = steps_of(pattern::shift, n, false);
    const auto incasts = steps_of(pattern::incast, n, false);
    EXPECT_EQ(pairs_in(shifts), all_pairs(n));
    EXPECT_EQ(pairs_in(incasts), all_pairs(n));
    for (const traffic_step& step : shifts)
      EXPECT_EQ(std::set<int>(step.to.begin(), step.to.end()).size(), step.to.size());
    for (const traffic_step& step : incasts) EXPECT_EQ(busy_pes(step), static_cast<std::size_t>(n - 1));
  }
}

TEST(traffic_steps, a_pe_without_others_has_no_steps) {
  for (const pattern in : {pattern::alone, pattern::shift, pattern::incast, pattern::all})
    EXPECT_TRUE(steps_of(in, 1, false).empty()) << name_of(in);
}

}  // namespace
}  // namespace pgas::perf
