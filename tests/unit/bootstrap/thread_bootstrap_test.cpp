/// @file
/// Bootstraps for PEs that are threads of one process.
#include "support.hpp"

namespace pgas::boot::test {
namespace {

class threads : public testing::TestWithParam<int> {};

TEST_P(threads, exchange) {
  const auto members = make_thread_bootstraps(GetParam());
  ASSERT_EQ(members.size(), static_cast<std::size_t>(GetParam()));
  run_all(GetParam(), [&](int rank) {
    bootstrap& mine = *members[static_cast<std::size_t>(rank)];
    EXPECT_EQ(mine.rank(), rank);
    EXPECT_EQ(mine.size(), GetParam());
    for (int repeat = 0; repeat < 25; ++repeat) exchange_everything(mine);
  });
}
INSTANTIATE_TEST_SUITE_P(sizes, threads, testing::Values(1, 2, 3, 8));

TEST(threads, a_missing_thread_is_named) {
  const auto members = make_thread_bootstraps(4, milliseconds(100));
  const auto thrown = run_ranks({0, 3}, [&](int rank) { members[static_cast<std::size_t>(rank)]->barrier(); });
  for (const auto& e : thrown) {
    ASSERT_TRUE(e);
    EXPECT_EQ(e->code(), code::bootstrap_timeout);
    EXPECT_EQ(e->pe(), 1);
    EXPECT_SAYS(*e, "ranks 1, 2 of 4");
  }
}

TEST(threads, abort_ends_the_waiting_and_later_calls) {
  const auto members = make_thread_bootstraps(3);
  const auto thrown = run_ranks(all_ranks(3), [&](int rank) {
    if (rank == 1) members[1]->abort("no use");
    members[static_cast<std::size_t>(rank)]->barrier();
  });
  for (const auto& e : thrown) {
    ASSERT_TRUE(e);
    EXPECT_EQ(e->code(), code::aborted);
    EXPECT_SAYS(*e, "no use");
  }
}

TEST(threads, a_thread_that_leaves_early_is_named) {
  auto members = make_thread_bootstraps(2);
  const auto thrown = run_ranks({0, 1}, [&](int rank) {
    if (rank == 1)
      members[1].reset();
    else
      members[0]->barrier();
  });
  ASSERT_TRUE(thrown[0]);
  EXPECT_EQ(thrown[0]->code(), code::peer_lost);
  EXPECT_EQ(thrown[0]->pe(), 1);
}

TEST(threads, different_calls_are_noticed) {
  const auto members = make_thread_bootstraps(2);
  const auto thrown = run_ranks({0, 1}, [&](int rank) {
    if (rank == 1)
      members[1]->barrier();
    else
      (void)members[0]->all_gather({});
  });
  for (const auto& e : thrown) {
    ASSERT_TRUE(e);
    EXPECT_EQ(e->code(), code::asymmetric_call);
  }
}

TEST(threads, bad_arguments) {
  EXPECT_EQ(thrown_by([] { (void)make_thread_bootstraps(0); }).code(), code::invalid_argument);
  const auto one = make_thread_bootstraps(1);
  const blob big((64 << 10) + 1);
  EXPECT_EQ(thrown_by([&] { (void)one[0]->all_gather(big); }).code(), code::invalid_argument);
}

}  // namespace
}  // namespace pgas::boot::test
