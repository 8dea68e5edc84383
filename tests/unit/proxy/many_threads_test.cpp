// Many threads, many PEs, full rings.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>

#include "pgas/detail/isa/ptx_memory.hpp"
#include "unit/proxy/pes.hpp"

namespace pgas::testing {
namespace {

using detail::atomic_update;
using detail::command_kind;
using detail::load_relaxed;

class proxy_many : public ::testing::TestWithParam<variant> {};
INSTANTIATE_TEST_SUITE_P(over, proxy_many, ::testing::ValuesIn(variants), variant_name);

/// Calls body(thread) on `count` threads.
template <class F>
void run_threads(int count, const F& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&, i] { body(i); });
  for (std::thread& each : threads) each.join();
}

TEST_P(proxy_many, atomic_operations_of_all_pes_on_one_word_are_neither_lost_nor_doubled) {
  constexpr int n = 3;
  constexpr std::uint64_t each = 400;
  proxied_world world(n, GetParam());
  std::vector<std::vector<std::uint64_t>> seen(n);
  run_threads(n, [&](int pe) {
    const producer ring = world[pe].produce();
    for (std::uint64_t i = 0; i < each; ++i) {
      if (i % 4 == 0)
        seen[static_cast<std::size_t>(pe)].push_back(ring.call(add(1, 0, 1)).low);
      else
        ring.push(add(1, 0, 1));
      ring.push(atomic(1, 16, atomic_update::add, detail::datatype::i32, 2));
      ring.push(signal(1, 24, 3));
    }
    ring.quiet();
  });
  EXPECT_EQ(load_relaxed(&world[1].word(0)), n * each);
  EXPECT_EQ(load_relaxed(&world[1].word(16)), 2 * n * each);
  EXPECT_EQ(load_relaxed(&world[1].word(24)), 3 * n * each);
  std::vector<std::uint64_t> all;
  for (const auto& mine : seen) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "two saw the same value before theirs";
}

TEST_P(proxy_many, more_commands_than_slots_by_many_threads) {
  constexpr int threads = 8;
  constexpr std::uint64_t each = 1000;  // the ring has 256 slots
  proxied_world world(2, GetParam());
  const producer ring = world[0].produce();
  run_threads(threads, [&](int thread) {
    for (std::uint64_t i = 0; i < each; ++i) {
      const std::uint64_t at = 8 * (static_cast<std::uint64_t>(thread) * each + i);
      ring.push(put_value(1, at, at + 1));
    }
    ring.quiet(1);
    for (std::uint64_t i = 0; i < each; ++i) {
      const std::uint64_t at = 8 * (static_cast<std::uint64_t>(thread) * each + i);
      ASSERT_EQ(load_relaxed(&world[1].word(at)), at + 1);
    }
  });
}

TEST_P(proxy_many, more_threads_wait_for_answers_than_there_are_cells) {
  proxied_world world(2, GetParam());
  for (std::uint64_t i = 0; i < 4096; ++i) world[1].word(8 * i) = i * 3;
  const producer ring = world[0].produce();
  run_threads(8, [&](int thread) {
    for (std::uint64_t i = 0; i < 200; ++i) {
      const std::uint64_t which = (static_cast<std::uint64_t>(thread) * 531 + i * 7) % 4096;
      ASSERT_EQ(ring.call(get_value(1, 8 * which)).low, which * 3);
    }
  });
}

TEST_P(proxy_many, all_pes_put_much_to_all_others_at_once) {
  constexpr int n = 4;
  constexpr std::size_t bytes = 500'000;
  proxied_world world(n, GetParam());
  std::vector<std::vector<std::byte>> data;
  for (int pe = 0; pe < n; ++pe) data.push_back(pattern(bytes, static_cast<unsigned>(pe)));
  run_threads(n, [&](int pe) {
    const producer ring = world[pe].produce();
    const auto mine = static_cast<std::size_t>(pe);
    for (int round = 0; round < 4; ++round) {
      for (int to = 0; to < n; ++to) ring.push(put_signal(to, 64 + mine * bytes, data[mine].data(), bytes, 0, 1));
    }
    wait_for("all signals", [&] { return load_relaxed(&world[pe].word(0)) == 4 * n; });
    detail::fence_acquire();
    for (std::size_t from = 0; from < n; ++from) {
      ASSERT_EQ(std::memcmp(world[pe].slot() + 64 + from * bytes, data[from].data(), bytes), 0) << from;
    }
    ring.quiet();
  });
}

TEST_P(proxy_many, gets_in_both_directions_at_once) {
  constexpr std::size_t bytes = 1'000'000;
  proxied_world world(2, GetParam());
  for (int pe = 0; pe < 2; ++pe) {
    const std::vector<std::byte> data = pattern(bytes, static_cast<unsigned>(pe));
    std::memcpy(world[pe].slot(), data.data(), bytes);
  }
  run_threads(2, [&](int pe) {
    const producer ring = world[pe].produce();
    const std::vector<std::byte> expected = pattern(bytes, static_cast<unsigned>(1 - pe));
    std::vector<std::vector<std::byte>> here(12, std::vector<std::byte>(bytes));
    for (auto& each : here) ring.push(get(1 - pe, each.data(), 0, bytes));
    for (std::uint64_t i = 0; i < 2000; ++i) ring.push(get_value(1 - pe, 8 * i));
    ring.quiet();
    for (const auto& each : here) ASSERT_EQ(each, expected);
  });
}

TEST(proxy_rings, several_are_added_and_removed) {
  proxied_world world(2);
  for (int round = 0; round < 20; ++round) {
    detail::host_ring more[3] = {{4, 2}, {4, 2}, {4, 2}};
    for (detail::host_ring& each : more) world[0].proxy().add_ring(each.consumer());
    run_threads(3, [&](int i) {
      const producer ring(more[i].producers());
      for (std::uint64_t k = 0; k < 100; ++k) ring.push(add(1, 8, 1));
      ring.quiet();
    });
    for (detail::host_ring& each : more) world[0].proxy().remove_ring(each.consumer());
  }
  EXPECT_EQ(load_relaxed(&world[1].word(8)), 20u * 300u);
}

TEST(proxy_rings, one_that_was_used_with_a_proxy_goes_on_with_the_next) {
  detail::host_ring ring(3, 2);
  const producer mine(ring.producers());
  for (int round = 0; round < 3; ++round) {
    proxied_world world(2);
    world[0].proxy().add_ring(ring.consumer());
    for (std::uint64_t k = 0; k < 50; ++k) mine.push(add(1, 8, 1));
    mine.quiet();
    EXPECT_EQ(load_relaxed(&world[1].word(8)), 50u);
    world[0].proxy().remove_ring(ring.consumer());
  }
}

TEST(proxy_rings, a_thread_that_wakes_the_proxy_is_served_after_a_long_pause) {
  proxied_world world(2);
  const producer ring = world[0].produce();
  for (std::uint64_t round = 1; round <= 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // after this time the proxy no longer polls
    ring.push(add(1, 8, 1));
    world[0].proxy().wake();
    ring.quiet();
    EXPECT_EQ(load_relaxed(&world[1].word(8)), round);
  }
}

}  // namespace
}  // namespace pgas::testing
