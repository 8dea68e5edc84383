#include <gtest/gtest.h>

#include "pgas/detail/poll_fairness.hpp"

namespace pgas::testing {
namespace {

constexpr std::uint64_t undisturbed = 300;  ///< nanoseconds of a yield where no other thread wants the core
constexpr std::uint64_t contended = 2'500;  ///< and where one does

/// Calls without a yield before the next one with it.
int skipped(detail::yield_rhythm& rhythm) {
  int count = 0;
  while (!rhythm.due()) ++count;
  return count;
}

TEST(yield_rhythm, yields_seldom_where_nobody_else_wants_the_core) {
  detail::yield_rhythm rhythm;
  EXPECT_EQ(skipped(rhythm), 0);
  for (const int expected : {1, 2, 4, 8, 16, 32, 64, 64, 64}) {
    rhythm.came_back(undisturbed);
    EXPECT_EQ(skipped(rhythm), expected);
  }
}

TEST(yield_rhythm, yields_at_every_chance_while_others_want_the_core) {
  detail::yield_rhythm rhythm;
  for (int i = 0; i < 10; ++i) {
    rhythm.came_back(undisturbed);
    EXPECT_GT(skipped(rhythm), 0);
  }
  for (int i = 0; i < 10; ++i) {
    rhythm.came_back(contended);
    EXPECT_EQ(skipped(rhythm), 0);
  }
  rhythm.came_back(undisturbed);
  EXPECT_EQ(skipped(rhythm), 1);
}

}  // namespace
}  // namespace pgas::testing
