// The counters of a PE, in the objects that keep them.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "host/watch/calls_in_progress.hpp"
#include "host/watch/operation_counter.hpp"
#include "pgas/world_stats.hpp"

namespace {

using namespace pgas;
using namespace std::chrono_literals;
using caller = detail::operation_counter::caller;
using kind = detail::operation_counter::kind;

TEST(world_stats, fragmentation_is_that_of_the_free_memory) {
  world_stats stats;
  stats.heap = {4096, 8192, 16384, 1024, 3};  // 4096 bytes are free, 1024 of them in one piece
  EXPECT_DOUBLE_EQ(stats.fragmentation(), 0.75);
  stats.heap.largest_free = 4096;
  EXPECT_DOUBLE_EQ(stats.fragmentation(), 0.0);
  stats.heap.used = stats.heap.mapped;
  stats.heap.largest_free = 0;
  EXPECT_DOUBLE_EQ(stats.fragmentation(), 0.0) << "nothing is free";
}

TEST(operation_counter, counts_of_many_threads_are_exact) {
  constexpr std::uint64_t threads = 4;
  constexpr std::uint64_t each = 5000;
  detail::operation_counter counter(3);
  std::vector<std::thread> all;
  for (std::uint64_t t = 0; t < threads; ++t)
    all.emplace_back([&] {
      for (std::uint64_t i = 0; i < each; ++i) {
        counter.add(2, caller::host, kind::put, 8);
        counter.add(2, caller::stream, kind::get, 16);
        counter.add(1, caller::host, kind::atomic, 0);
      }
    });
  for (std::thread& item : all) item.join();
  const operation_counts host = counter.counts_of(2, caller::host);
  EXPECT_EQ(host.puts, threads * each);
  EXPECT_EQ(host.put_bytes, threads * each * 8);
  EXPECT_EQ(host.gets + host.get_bytes + host.atomics + host.signals, 0u);
  const operation_counts streams = counter.counts_of(2, caller::stream);
  EXPECT_EQ(streams.gets, threads * each);
  EXPECT_EQ(streams.get_bytes, threads * each * 16);
  EXPECT_EQ(counter.counts_of(1, caller::host).atomics, threads * each);
  EXPECT_EQ(counter.counts_of(0, caller::host).puts, 0u);
}

TEST(calls_in_progress, adds_up_the_calls_of_a_name) {
  detail::calls_in_progress calls;
  const std::string same = "barrier";  // this text has another address than the literal
  for (const char* const name : {"barrier", same.c_str(), "quiet"}) {
    ASSERT_TRUE(calls.enter(name));
    EXPECT_FALSE(calls.enter("inside"));
    std::this_thread::sleep_for(60ms);
    calls.leave();
  }
  const std::vector<detail::calls_in_progress::total> totals = calls.totals();
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].name, "barrier");
  EXPECT_EQ(totals[0].calls, 2u);
  EXPECT_GE(totals[0].time, 80ms);  // each end of the interval is up to 10 ms too early
  EXPECT_EQ(totals[1].name, "quiet");
  EXPECT_EQ(totals[1].calls, 1u);
  EXPECT_GE(totals[1].time, 40ms);
}

TEST(calls_in_progress, knows_how_long_nobody_was_in_a_call) {
  detail::calls_in_progress calls;
  std::this_thread::sleep_for(60ms);
  EXPECT_GE(calls.idle_with_short_calls(), 40ms);
  ASSERT_TRUE(calls.enter("barrier"));
  std::this_thread::sleep_for(60ms);
  EXPECT_EQ(calls.idle_with_short_calls(), 0ms);
  calls.leave();
  std::this_thread::sleep_for(60ms);
  const auto before = calls.idle_with_short_calls();
  EXPECT_GE(before, 40ms);
  calls.look();
  EXPECT_GE(calls.idle_with_short_calls(), before) << "there was no short call";
  calls.count();
  const auto begin = std::chrono::steady_clock::now();
  calls.look();
  const auto idle = calls.idle_with_short_calls();
  EXPECT_LE(idle, std::chrono::steady_clock::now() - begin + 20ms) << "the look noticed the short call";
}

}  // namespace
