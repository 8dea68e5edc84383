// Recorded events are present and in order, and lost events are counted.
#include "common/trace/recorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace {

using pgas::trace::recorded_event;
using pgas::trace::recorder;

recorded_event numbered(std::uint64_t number) {
  recorded_event result;
  result.facts.number = number;
  result.name = "test";
  return result;
}

TEST(recorder, gives_the_events_of_a_thread_in_order) {
  recorder events;
  for (std::uint64_t i = 0; i < 100; ++i) events.add(numbered(i));
  events.close();
  const auto all = events.take();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].lost, 0U);
  ASSERT_EQ(all[0].events.size(), 100U);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(all[0].events[i].facts.number, i);
}

TEST(recorder, a_full_ring_loses_its_oldest_events_and_counts_them) {
  recorder events(8);
  for (std::uint64_t i = 0; i < 20; ++i) events.add(numbered(i));
  events.close();
  const auto all = events.take();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].lost, 12U);
  ASSERT_EQ(all[0].events.size(), 8U);
  EXPECT_EQ(all[0].events.front().facts.number, 12U);
  EXPECT_EQ(all[0].events.back().facts.number, 19U);
}

TEST(recorder, nothing_is_recorded_after_the_end) {
  recorder events;
  events.add(numbered(1));
  events.close();
  events.add(numbered(2));
  EXPECT_EQ(events.take().at(0).events.size(), 1U);
}

TEST(recorder, threads_have_rings_of_their_own_until_there_are_too_many) {
  recorder events(4);
  std::vector<std::thread> threads;
  std::atomic<std::size_t> arrived{0};
  constexpr std::size_t n = recorder::most_threads + 3;
  for (std::size_t i = 0; i < n; ++i)
    threads.emplace_back([&, i] {
      events.add(numbered(i));
      ++arrived;
      while (arrived < n) std::this_thread::yield();  // the system may reuse the id of a thread that has ended
    });
  for (std::thread& item : threads) item.join();
  events.close();
  EXPECT_EQ(events.take().size(), recorder::most_threads);
  EXPECT_EQ(events.lost(), 3U);
}

TEST(recorder, ends_while_threads_record) {
  recorder events(1024);
  std::atomic<bool> stop{false};
  std::atomic<int> begun{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      events.add(numbered(0));
      ++begun;
      for (std::uint64_t k = 1; !stop; ++k) events.add(numbered(k));
    });
  while (begun < 3) std::this_thread::yield();
  events.close();
  const auto all = events.take();
  stop = true;
  for (std::thread& item : threads) item.join();
  ASSERT_EQ(all.size(), 3U);
  for (const auto& item : all) {
    ASSERT_FALSE(item.events.empty());
    for (std::size_t i = 0; i < item.events.size(); ++i) EXPECT_EQ(item.events[i].facts.number, item.lost + i);
  }
}

TEST(recorder, two_recorders_of_one_thread_are_independent) {
  recorder first;
  recorder second;
  for (std::uint64_t i = 0; i < 3; ++i) {
    first.add(numbered(i));
    second.add(numbered(i + 10));
  }
  first.close();
  second.close();
  ASSERT_EQ(first.take().size(), 1U);
  EXPECT_EQ(first.take()[0].events.size(), 3U);
  EXPECT_EQ(second.take().at(0).events.at(0).facts.number, 10U);
}

}  // namespace
