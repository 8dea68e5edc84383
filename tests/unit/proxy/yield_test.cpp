#include <gtest/gtest.h>

#include "pgas/detail/poll_yield.hpp"

namespace pgas::testing {
namespace {

constexpr std::uint64_t at_once = 300;         ///< nanoseconds, as yields take where nobody else wants the core
constexpr std::uint64_t after_others = 2'500;  ///< and where somebody does

/// The chances that are left out before the next that is taken.
int left_out(detail::yield_rhythm& rhythm) {
  int count = 0;
  while (!rhythm.due()) ++count;
  return count;
}

TEST(yield_rhythm, yields_seldom_where_nobody_else_wants_the_core) {
  detail::yield_rhythm rhythm;
  EXPECT_EQ(left_out(rhythm), 0);
  for (const int expected : {1, 2, 4, 8, 16, 32, 64, 64, 64}) {
    rhythm.came_back(at_once);
    EXPECT_EQ(left_out(rhythm), expected);
  }
}

TEST(yield_rhythm, yields_at_every_chance_while_others_want_the_core) {
  detail::yield_rhythm rhythm;
  for (int i = 0; i < 10; ++i) {
    rhythm.came_back(at_once);
    EXPECT_GT(left_out(rhythm), 0);
  }
  for (int i = 0; i < 10; ++i) {
    rhythm.came_back(after_others);
    EXPECT_EQ(left_out(rhythm), 0);
  }
  rhythm.came_back(at_once);
  EXPECT_EQ(left_out(rhythm), 1);
}

}  // namespace
}  // namespace pgas::testing
