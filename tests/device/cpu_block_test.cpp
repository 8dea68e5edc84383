// The CPU's blocks: threads synchronise, leave, and do not hang when one of them fails.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "pgas/device/group.hpp"
#include "pgas/device/impl/sync/thread_group_vote.hpp"

namespace {

using pgas::cpu_block;
using pgas::detail::cpu_block_state;
using pgas::detail::run_member;
using pgas::detail::thread_ended;

/// Runs f(thread) on `size` threads. Returns how many threads ended by thread_ended, and how many by another exception.
template <class F>
std::pair<int, int> run_block(std::uint32_t size, const F& f) {
  cpu_block_state state(size);
  std::atomic<int> ended{0};
  std::atomic<int> thrown{0};
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        run_member(cpu_block(state, rank, size, 3, 5), f);
      } catch (const thread_ended&) {
        ++ended;
      } catch (const std::runtime_error&) {
        ++thrown;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  return {ended, thrown};
}

TEST(cpu_block, sync_orders_what_members_do) {
  for (std::uint32_t size : {1u, 2u, 4u, 7u}) {
    std::vector<int> cells(size, 0);  // not atomic: the thread sanitizer reports a barrier that does not order accesses
    const auto ended = run_block(size, [&](const cpu_block& block) {
      for (int round = 1; round <= 200; ++round) {
        cells[block.thread_rank()] = round;
        block.sync();
        for (const int cell : cells) ASSERT_EQ(cell, round);
        block.sync();
      }
    });
    EXPECT_EQ(ended, std::make_pair(0, 0));
  }
}

TEST(cpu_block, members_that_return_are_not_waited_for) {
  std::atomic<int> rounds{0};
  const auto ended = run_block(4, [&](const cpu_block& block) {
    for (std::uint32_t round = 0; round <= block.thread_rank() * 10; ++round) {
      block.sync();
      ++rounds;
    }
  });
  EXPECT_EQ(ended, std::make_pair(0, 0));
  EXPECT_EQ(rounds, 1 + 11 + 21 + 31);
}

TEST(cpu_block, a_failing_member_ends_the_others) {
  for (int round = 0; round < 50; ++round) {
    const auto ended = run_block(4, [&](const cpu_block& block) {
      block.sync();
      if (block.thread_rank() == 2) throw std::runtime_error("on purpose");
      block.sync();
      ADD_FAILURE() << "came through a sync that one member never reached";
    });
    EXPECT_EQ(ended, std::make_pair(3, 1));
  }
}

TEST(cpu_block, a_failing_member_ends_its_named_groups) {
  for (int round = 0; round < 50; ++round) {
    const auto ended = run_block(4, [&](const cpu_block& block) {
      const std::uint32_t rank = block.thread_rank();
      if (rank == 3) throw std::runtime_error("on purpose");
      const pgas::named_group others(1, 3, rank);  // the group can be made before or after the failure of thread 3
      for (;;) others.sync();
    });
    EXPECT_EQ(ended, std::make_pair(3, 1));
  }
}

TEST(cpu_block, named_groups_do_not_wait_for_one_another) {
  std::atomic<int> meetings{0};
  const auto ended = run_block(5, [&](const cpu_block& block) {
    const std::uint32_t rank = block.thread_rank();
    const bool first = rank < 2;
    const pgas::named_group part(first ? 7 : 8, first ? 2 : 3, first ? rank : rank - 2);
    for (int i = 0; i < (first ? 10 : 500); ++i) {
      part.sync();
      EXPECT_EQ(part.broadcast(static_cast<std::uint32_t>(i) + 100 * part.thread_rank()),
                static_cast<std::uint32_t>(i));
      EXPECT_EQ(part.any(part.thread_rank() == 1 && i % 2 == 0), i % 2 == 0);
      if (part.thread_rank() == 0) ++meetings;
    }
  });
  EXPECT_EQ(ended, std::make_pair(0, 0));
  EXPECT_EQ(meetings, 510);
}

TEST(cpu_block, named_groups_belong_to_a_block) { EXPECT_THROW(pgas::named_group(1, 1, 0), std::logic_error); }

TEST(cpu_block, members_know_their_place) {
  const auto ended = run_block(3, [](const cpu_block& block) {
    EXPECT_EQ(block.block_rank(), 3u);
    EXPECT_EQ(block.num_blocks(), 5u);
    EXPECT_EQ(block.size(), 3u);
    EXPECT_EQ(pgas::detail::place_block(), 3u);
    EXPECT_EQ(pgas::detail::place_thread(), block.thread_rank());
  });
  EXPECT_EQ(ended, std::make_pair(0, 0));
  EXPECT_EQ(pgas::detail::place_block(), 0u);
}

TEST(cpu_block, broadcast_and_any_in_a_row) {
  const auto ended = run_block(4, [](const cpu_block& block) {
    for (std::uint32_t i = 0; i < 300; ++i) {
      ASSERT_EQ(pgas::detail::broadcast(block, i + block.thread_rank()), i);
      ASSERT_EQ(pgas::detail::any(block, i % 5 == block.thread_rank()), i % 5 < 4);
    }
  });
  EXPECT_EQ(ended, std::make_pair(0, 0));
}

}  // namespace
