// Kernels on the CPU backend: blocks that run at the same time, blocks that form one group, and blocks that run one
// after another.
#include "device/cpu_grid.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "device/device.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/grid.hpp"
#include "pgas/error.hpp"
#include "unit/connect/pes.hpp"
#include "unit/device_cpu/requests.hpp"

namespace pgas::unit_test {
namespace {

TEST(cpu_grid, runs_every_thread_of_every_block_at_the_same_time) {
  const auto on = make_cpu_device();
  constexpr unsigned blocks = 5;
  constexpr unsigned threads = 3;
  std::array<std::array<std::atomic<int>, threads>, blocks> ran{};
  std::atomic<unsigned> arrived{0};
  run_grid_on_cpu(*on, nullptr, {blocks, threads}, [&](const cpu_block& block) {
    EXPECT_EQ(block.size(), threads);
    EXPECT_EQ(block.num_blocks(), blocks);
    ++ran[block.block_rank()][block.thread_rank()];
    ++arrived;
    // The blocks wait for one another, so all blocks must run at the same time.
    while (arrived < blocks * threads) std::this_thread::yield();
    block.sync();
  });
  on->synchronize(nullptr);
  for (const auto& block : ran)
    for (const auto& count : block) EXPECT_EQ(count, 1);
}

TEST(cpu_grid, all_blocks_are_one_group) {
  const auto on = make_cpu_device();
  std::array<unsigned, 6> places{};  // not atomic, because the grid's sync orders the accesses
  run_grid_on_cpu(*on, nullptr, {3, 2}, [&](const cpu_block& block) {
    const grid all = this_grid(block);
    EXPECT_EQ(all.size(), 6u);
    for (unsigned round = 0; round < 100; ++round) {
      places[all.thread_rank()] = round;
      all.sync();
      for (const unsigned place : places) EXPECT_EQ(place, round);
      EXPECT_EQ(all.broadcast(all.thread_rank() + round), round);
      EXPECT_EQ(all.any(all.thread_rank() == 5 && round == 7), round == 7);
    }
  });
  on->synchronize(nullptr);
  run_grid_on_cpu(*on, nullptr, {3, 2}, [&](const cpu_block& block) {
    if (block.block_rank() == 2) throw std::runtime_error("of its own");
    this_grid(block).sync();  // this sync does not wait forever for a thread that has ended
  });
  const auto own = thrown_by([&] { on->synchronize(nullptr); });
  ASSERT_TRUE(own);
  EXPECT_NE(std::string(own->what()).find("of its own"), std::string::npos) << own->what();
}

TEST(cpu_grid, blocks_that_wait_for_nobody_may_be_many) {
  const auto on = make_cpu_device();
  std::vector<int> ran(3000, 0);
  std::atomic<int> at_once{0};
  std::atomic<int> most{0};
  run_grid_on_cpu(*on, nullptr, {3000, 2, false}, [&](const cpu_block& block) {
    const int now = ++at_once;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    EXPECT_EQ(block.num_blocks(), 3000u);
    if (block.thread_rank() == 0) ++ran[block.block_rank()];
    --at_once;
  });
  on->synchronize(nullptr);
  EXPECT_EQ(ran, std::vector<int>(3000, 1));
  EXPECT_LE(most, static_cast<int>(4 * std::thread::hardware_concurrency()));
  run_grid_on_cpu(*on, nullptr, {2, 1, false}, [&](const cpu_block& block) { this_grid(block).sync(); });
  const auto no_group = thrown_by([&] { on->synchronize(nullptr); });
  ASSERT_TRUE(no_group);
  EXPECT_NE(std::string(no_group->what()).find("resident"), std::string::npos) << no_group->what();
}

TEST(cpu_grid, a_crew_meets_at_its_barrier) {
  const auto on = make_cpu_device();
  std::array<int, 4> values{};  // not atomic, because the barrier orders the accesses
  std::array<int, 4> sums{};
  run_grid_on_cpu(*on, nullptr, {1, 4}, [&](const cpu_block& block) {
    for (int round = 0; round < 100; ++round) {
      values[block.thread_rank()] = round;
      block.sync();
      sums[block.thread_rank()] = values[0] + values[1] + values[2] + values[3];
      block.sync();
      EXPECT_EQ(sums[block.thread_rank()], 4 * round);
    }
  });
  on->synchronize(nullptr);
}

TEST(cpu_grid, a_trap_ends_the_crew_and_synchronize_says_so) {
  const auto on = make_cpu_device();
  const holdings before = count_holdings();
  run_grid_on_cpu(*on, nullptr, {2, 3}, [&](const cpu_block& block) {
    if (block.block_rank() == 1 && block.thread_rank() == 1) throw thread_ended{};
    block.sync();
    block.sync();
  });
  const auto end = thrown_by([&] { on->synchronize(nullptr); });
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code(), code::device_failed);
  run_grid_on_cpu(*on, nullptr, {1, 2}, [&](const cpu_block& block) {
    if (block.thread_rank() == 0) throw std::runtime_error("of its own");
    block.sync();
  });
  const auto own = thrown_by([&] { on->synchronize(nullptr); });
  ASSERT_TRUE(own);
  EXPECT_NE(std::string(own->what()).find("of its own"), std::string::npos) << own->what();
  holdings after = before;
  after.threads += 1;  // the thread of the device's own stream remains
  EXPECT_EQ(settle_at(after), after);
}

TEST(cpu_grid, impossible_shapes_are_refused_at_once) {
  const auto on = make_cpu_device();
  for (const auto& [blocks, threads] :
       {std::pair{0u, 1u}, {1u, 0u}, {1u, 1025u}, {4097u, 1u}, {5u, 1024u}, {~0u, ~0u}}) {
    const auto refused = thrown_by([&, b = blocks, t = threads] {
      run_grid_on_cpu(*on, nullptr, {b, t}, [](const cpu_block&) {});
    });
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code(), code::launch_failed);
  }
}

}  // namespace
}  // namespace pgas::unit_test
