// The barriers of GPU blocks, executed by CPU threads so that the thread sanitizer can check their order. Also tests
// grids on the CPU.
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "pgas/device.hpp"

namespace pgas_test {
namespace {

using namespace pgas;

void run(std::uint32_t blocks, const std::function<void(std::uint32_t)>& block) {
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < blocks; ++i) threads.emplace_back(block, i);
  for (std::thread& thread : threads) thread.join();
}

TEST(grid_barrier, orders_counts_votes_and_serves_grids_of_any_size) {
  detail::control_block control{};
  detail::grid_state state{};
  state.here.control_ = &control;
  for (const std::uint32_t blocks : {1u, 2u, 3u, 7u, 2u}) {
    std::vector<std::uint32_t> places(blocks);  // not atomic
    std::uint32_t odd = 0;                      // written by one block between two barriers
    run(blocks, [&](std::uint32_t me) {
      for (std::uint32_t i = 0; i < 500; ++i) {
        places[me] = i;
        const detail::grid_vote met = detail::vote_blocks(state, blocks, i % blocks == me && i % 3 == 0);
        EXPECT_EQ(met.lost, 0u);
        EXPECT_EQ(met.yes, i % 3 == 0 ? 1u : 0u);
        EXPECT_EQ(places[(me + i) % blocks], i);
        if (me == 0) odd = met.odd;
        EXPECT_EQ(detail::vote_blocks(state, blocks, false).yes, 0u);
        EXPECT_EQ(odd, met.odd) << "the same room on all blocks";
      }
    });
  }
}

TEST(grid_barrier, numbers_of_meetings_start_again) {
  detail::control_block control{};
  detail::grid_state state{};
  state.here.control_ = &control;
  run(2, [&](std::uint32_t) {
    for (int i = 0; i < 40'000; ++i) EXPECT_EQ(detail::vote_blocks(state, 2, true).yes, 1u);
  });
}

/// Several launches use one table of states, like the instances of a graph. There are more launches than states.
/// Several launches run at the same time, each with several blocks. Each launch has a number while it runs.
TEST(grid_barrier, launches_with_one_table_have_separate_barriers) {
  constexpr std::uint32_t size = 4;
  constexpr std::uint32_t at_once = 4;
  constexpr std::uint32_t blocks = 3;
  detail::control_block control{};
  std::vector<detail::grid_state> table(size);
  for (detail::grid_state& state : table) state.here.control_ = &control;
  std::vector<std::thread> queues;
  for (std::uint32_t queue = 0; queue < at_once; ++queue) {
    queues.emplace_back([&table, queue] {
      for (std::uint64_t i = 0; i < 100; ++i) {
        const std::uint64_t launch = 64 * (queue + at_once * (i % 3) + 1);
        std::vector<std::uint64_t> places(blocks);  // not atomic
        run(blocks, [&](std::uint32_t me) {
          detail::grid_state* const state = detail::find_state(table.data(), launch, me == 0, size);
          ASSERT_NE(state, nullptr);
          for (std::uint64_t k = 0; k < 10; ++k) {
            places[me] = i + k;
            EXPECT_EQ(detail::vote_blocks(*state, blocks, (k + queue) % 2 == 0).yes, (k + queue) % 2 == 0 ? 1u : 0u);
            EXPECT_EQ(places[(me + 1) % blocks], i + k);
            EXPECT_EQ(detail::vote_blocks(*state, blocks, false).yes, 0u);
          }
          detail::leave_state(*state, blocks);
        });
      }
    });
  }
  for (std::thread& queue : queues) queue.join();
  for (const detail::grid_state& state : table) EXPECT_EQ(state.owner + state.left, 0u) << "given back";
}

TEST(grid_barrier, a_table_is_given_up_when_no_state_can_be_had) {
  detail::control_block control{};
  std::uint32_t claim = 0;
  control.wait_timeout_ns = 50'000'000;
  detail::grid_state only{};
  only.owner = 64;
  only.here.control_ = &control;
  only.here.my_slot_ = reinterpret_cast<std::uintptr_t>(&claim);
  EXPECT_EQ(detail::find_state(&only, 128, true, 1), nullptr);
  EXPECT_EQ(control.record.what, detail::operation::grid_sync);
}

TEST(grid_barrier, ends_when_a_block_does_not_come) {
  detail::control_block control{};
  std::uint32_t claim = 0;
  control.wait_timeout_ns = 50'000'000;
  detail::grid_state state{};
  state.here.control_ = &control;
  state.here.my_slot_ = reinterpret_cast<std::uintptr_t>(&claim);
  EXPECT_EQ(detail::vote_blocks(state, 2, false).lost, 1u);
  EXPECT_EQ(control.record.complete, 1u);
  EXPECT_EQ(control.record.what, detail::operation::grid_sync);
  EXPECT_EQ(control.record.why, detail::failure::timed_out);
  EXPECT_EQ(control.record.expected, 2u);
}

TEST(grid_barrier, a_crew_without_a_grid_says_so) {
  detail::cpu_block_state state(1);
  EXPECT_THROW(this_grid(cpu_block(state, 0, 1, 0, 2)).sync(), std::logic_error);
  this_grid(cpu_block(state, 0, 1, 0, 1)).sync();  // one block is a grid
}

}  // namespace
}  // namespace pgas_test
