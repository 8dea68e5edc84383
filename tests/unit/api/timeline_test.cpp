// Timelines of the host: values, waits, errors, and the end of a timeline. tests/sharing tests timelines between
// unrelated processes.
#include "pgas/timeline.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "code_of.hpp"
#include "pgas/error.hpp"
#include "pgas/ipc_event.hpp"

namespace pgas::unit_test {
namespace {

using pgas_test::code_of;
using std::chrono::milliseconds;

TEST(timeline, begins_at_zero_and_keeps_the_last_value) {
  timeline mine = timeline::make(memory_place::host());
  EXPECT_TRUE(mine);
  EXPECT_EQ(mine.place(), memory_place::host());
  EXPECT_EQ(mine.query(), 0U);
  EXPECT_EQ(mine.recorded(), 0U);
  mine.wait_host(0);
  mine.record(nullptr, 5);
  EXPECT_EQ(mine.query(), 5U);
  EXPECT_EQ(mine.recorded(), 5U);
  mine.set(9);
  mine.wait(nullptr, 9);
  mine.wait_host(7);
  mine.set(timeline::max_value);
  EXPECT_EQ(*mine.word(), timeline::max_value);
  EXPECT_TRUE(mine.alive());
  mine.check();
}

TEST(timeline, a_value_is_seen_with_what_came_before_it) {
  timeline mine = timeline::make(memory_place::host());
  const std::string ticket = mine.ticket();
  EXPECT_LE(ticket.size(), 1024U);
  // The ticket is opened twice and mapped once, because ThreadSanitizer identifies words by their addresses.
  timeline here = timeline::open(ticket);
  timeline opened = timeline::open(ticket);
  EXPECT_EQ(here.word(), opened.word());
  int data = 0;
  std::thread other([&] {
    for (int i = 1; i <= 1000; ++i) {
      opened.wait_host(static_cast<std::uint64_t>(2 * i - 1));
      EXPECT_EQ(data, i);
      data = -i;
      opened.set(static_cast<std::uint64_t>(2 * i));
    }
  });
  for (int i = 1; i <= 1000; ++i) {
    data = i;
    here.set(static_cast<std::uint64_t>(2 * i - 1));
    here.wait(nullptr, static_cast<std::uint64_t>(2 * i));
    EXPECT_EQ(data, -i);
  }
  other.join();
  EXPECT_EQ(mine.query(), 2000U);
}

TEST(timeline, a_wait_ends_with_its_timeout_and_says_the_values) {
  timeline mine = timeline::make(memory_place::host());
  mine.set(3);
  const auto begin = std::chrono::steady_clock::now();
  try {
    mine.wait_host(4, milliseconds{50});
    FAIL() << "it has no 4";
  } catch (const error& late) {
    EXPECT_EQ(late.code(), code::wait_timeout);
    EXPECT_NE(std::string(late.what()).find("wait for value 4 of a timeline gave up after 50 ms: the value is 3"),
              std::string::npos)
        << late.what();
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds{50});
  EXPECT_EQ(code_of([&] { mine.wait_host(4, milliseconds{0}); }), code::wait_timeout);
}

TEST(timeline, refuses_what_it_cannot_do) {
  timeline empty;
  EXPECT_FALSE(empty);
  EXPECT_EQ(code_of([&] { empty.set(1); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(empty.query()); }), code::invalid_argument);
  timeline mine = timeline::make(memory_place::host());
  EXPECT_EQ(code_of([&] { mine.set(timeline::max_value + 1); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { mine.record(nullptr, ~std::uint64_t{0}); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { mine.wait(nullptr, timeline::max_value + 1); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { mine.wait_host(timeline::max_value + 1); }), code::invalid_argument);
  timeline opened = timeline::open(mine.ticket());
  EXPECT_EQ(code_of([&] { static_cast<void>(opened.ticket()); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] { opened.revoke(); }), code::invalid_argument);
  shared_memory memory = shared_memory::make(memory_place::host(), 4096);
  EXPECT_EQ(code_of([&] { static_cast<void>(timeline::open(memory.ticket())); }), code::handle_invalid);
  EXPECT_EQ(code_of([&] { static_cast<void>(timeline::open("no ticket")); }), code::handle_invalid);
}

TEST(timeline, that_is_destroyed_keeps_its_value_and_ends_waits_for_more) {
  timeline mine = timeline::make(memory_place::host());
  timeline opened = timeline::open(mine.ticket());
  mine.set(6);
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(30));
    mine = timeline();
  });
  const auto begin = std::chrono::steady_clock::now();
  try {
    opened.wait_host(7);
    ADD_FAILURE() << "nobody records 7";
  } catch (const error& lost) {
    EXPECT_EQ(lost.code(), code::peer_lost);
    EXPECT_NE(std::string(lost.what()).find("process " + std::to_string(::getpid())), std::string::npos) << lost.what();
    EXPECT_NE(std::string(lost.what()).find("has destroyed the timeline at 6"), std::string::npos) << lost.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds{1000});
  later.join();
  opened.wait_host(6);
  opened.wait(nullptr, 6);
  EXPECT_EQ(opened.query(), 6U);
  EXPECT_FALSE(opened.alive());
  EXPECT_EQ(code_of([&] { opened.set(8); }), code::peer_lost);
}

TEST(timeline, belongs_to_its_process) {
  timeline mine = timeline::make(memory_place::host());
  mine.set(2);
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 1;
    try {
      mine.set(3);
    } catch (const error& refused) {
      status = refused.code() == code::forked_process ? 0 : 2;
    }
    mine = timeline();
    ::_exit(status);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(mine.query(), 2U);
  EXPECT_TRUE(mine.alive());
}

TEST(ipc_event, is_an_event_of_cuda_and_says_so_on_the_host) {
  try {
    static_cast<void>(ipc_event::make(memory_place::host()));
    FAIL() << "there are no events on the host";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), code::device_unavailable);
    EXPECT_NE(std::string(refused.what()).find("pgas::timeline"), std::string::npos) << refused.what();
  }
  ipc_event empty;
  EXPECT_EQ(code_of([&] { empty.record(nullptr); }), code::invalid_argument);
  timeline mine = timeline::make(memory_place::host());
  EXPECT_EQ(code_of([&] { static_cast<void>(ipc_event::open(mine.ticket())); }), code::handle_invalid);
}

}  // namespace
}  // namespace pgas::unit_test
