#include "pgas/detail/poll_fairness.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "unit/proxy/one_core.hpp"

namespace pgas::testing {
namespace {

/// The nanoseconds that a yield takes if no other thread waits for the core.
constexpr std::uint64_t undisturbed = 300;
constexpr std::uint64_t contended = 2'500;  ///< the nanoseconds that a yield takes if another thread waits for the core

/// The number of calls without a yield before the next call that yields.
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

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t slice = 4 * ms;  ///< the time slice of a thread that computes

TEST(core_sharing, is_not_crowded_where_yields_are_short) {
  detail::core_sharing core;
  std::uint64_t now = 1'000 * ms;
  for (int i = 0; i < 1000; ++i) {
    core.yielded(now, now + contended);
    now += contended;
    EXPECT_FALSE(core.crowded(now));
  }
}

TEST(core_sharing, is_crowded_for_longer_while_a_thread_keeps_the_core) {
  detail::core_sharing core;
  std::uint64_t now = 1'000 * ms;
  for (const std::uint64_t expected : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 256u, 256u, 256u}) {
    core.yielded(now, now + slice);
    now += slice;
    EXPECT_TRUE(core.crowded(now + expected * ms - 1));
    EXPECT_FALSE(core.crowded(now + expected * ms));
    now += expected * ms;
    core.yielded(now, now + undisturbed);  // the time slice of the second thread can come later
    now += undisturbed;
    EXPECT_FALSE(core.crowded(now));
  }
}

TEST(core_sharing, begins_anew_after_a_time_without_such_a_thread) {
  detail::core_sharing core;
  std::uint64_t now = 1'000 * ms;
  for (const std::uint64_t period : {1u, 2u, 4u}) {
    core.yielded(now, now + slice);
    now += slice + period * ms;
  }
  now += 10 * ms;
  core.yielded(now, now + undisturbed);
  core.yielded(now, now + slice);
  EXPECT_TRUE(core.crowded(now + slice + ms - 1));
  EXPECT_FALSE(core.crowded(now + slice + ms));
}

TEST(sleep_after, grows_with_the_wait_between_limits) {
  EXPECT_EQ(detail::sleep_after(0), 20'000u);
  EXPECT_EQ(detail::sleep_after(400'000), 100'000u);
  EXPECT_EQ(detail::sleep_after(1'000 * ms), ms);
}

// A yield takes a time slice of the computing thread, so 2000 turns would take 8 s or more.
TEST(yield_now_and_then, lets_threads_alternate_beside_a_thread_that_computes) {
  using clock = std::chrono::steady_clock;
  const one_core here;
  std::atomic<std::uint64_t> turn{0};
  std::atomic<bool> end{false};
  const auto take_turns = [&](std::uint64_t mine) {
    while (!end.load()) {
      if (turn.load() % 2 == mine)
        turn.fetch_add(1);
      else
        detail::yield_now_and_then();
    }
  };
  std::thread computes([&] {
    while (!end.load()) {
    }
  });
  std::thread even(take_turns, 0);
  std::thread odd(take_turns, 1);
  const auto until = clock::now() + std::chrono::seconds(4);
  while (clock::now() < until && turn.load() < 2000) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  end.store(true);
  for (std::thread* const each : {&computes, &even, &odd}) each->join();
  EXPECT_GE(turn.load(), 2000u);
}

// ---- the bell

TEST(proxy_bell, wakes_a_thread_that_sleeps_and_misses_no_thread_that_is_about_to) {
  detail::proxy_bell bell{};
  std::atomic<std::uint64_t> rounds{0};
  std::thread sleeper([&] {
    for (std::uint64_t i = 0; i < 2000; ++i) {
      std::uint32_t seen = detail::times_rung(bell);
      while (rounds.load() <= i) {
        detail::sleep_until_rung(bell, seen, 60'000 * ms);
        seen = detail::times_rung(bell);
      }
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < 2000; ++i) {
    rounds.fetch_add(1);
    detail::ring_bell(bell);
    if (i % 8 == 0) std::this_thread::yield();
  }
  sleeper.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(proxy_bell, wakes_the_proxy_once_for_each_sleep) {
  detail::proxy_bell bell{};
  int woken = 0;
  bell.proxy = &woken;
  bell.wake = [](void* count) { ++*static_cast<int*>(count); };
  detail::wake_proxy(bell);
  EXPECT_EQ(woken, 0) << "it does not sleep";
  detail::announce_sleep(bell);
  detail::wake_proxy(bell);
  detail::wake_proxy(bell);
  EXPECT_EQ(woken, 1);
  detail::announce_sleep(bell);
  detail::end_sleep(bell);
  detail::wake_proxy(bell);
  EXPECT_EQ(woken, 1) << "it sleeps no longer";
}

}  // namespace
}  // namespace pgas::testing
