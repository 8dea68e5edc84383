// The loop that waits for descriptors. The loop can ignore a descriptor for a while although the descriptor stays
// ready.
#include "common/net/event_loop.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <span>
#include <utility>

#include "common/net/socket.hpp"

namespace {

using namespace pgas::detail;
using namespace std::chrono_literals;

/// A descriptor that is readable, and the calls of its handler.
struct ready_descriptor {
  ready_descriptor() : ends(socket_pair(SOCK_STREAM)) {
    EXPECT_EQ(send_now(ends.second.get(), std::as_bytes(std::span("x"))), 0);
  }
  std::pair<unique_fd, unique_fd> ends;
  int calls = 0;
};

TEST(EventLoop, APausedDescriptorIsIgnoredUntilThePauseIsOver) {
  event_loop loop;
  ready_descriptor one;
  loop.watch(one.ends.first.get(), POLLIN, [&](short) {
    ++one.calls;
    loop.pause(one.ends.first.get(), 100ms);
  });
  const clock::time_point end = clock::now() + 1s;
  int turns = 0;
  for (; clock::now() < end; ++turns) loop.run_once(end);
  EXPECT_GE(one.calls, 2);
  EXPECT_LE(one.calls, 11);
  EXPECT_LE(turns, 2 * 11 + 1) << "the loop does not spin";
}

TEST(EventLoop, ChangingOrForgettingAPausedDescriptorEndsThePause) {
  event_loop loop;
  ready_descriptor one;
  ready_descriptor other;
  loop.watch(one.ends.first.get(), POLLIN, [&](short) { ++one.calls; });
  loop.watch(other.ends.first.get(), POLLIN, [&](short) { ++other.calls; });
  loop.pause(one.ends.first.get(), 1h);
  loop.pause(other.ends.first.get(), 10ms);
  loop.change(one.ends.first.get(), POLLIN);
  loop.forget(other.ends.first.get());
  const clock::time_point end = clock::now() + 100ms;
  loop.run_once(end);
  EXPECT_EQ(one.calls, 1);
  loop.pause(one.ends.first.get(), 1h);
  loop.run_once(end);
  EXPECT_EQ(one.calls, 1);
  EXPECT_EQ(other.calls, 0);
}

}  // namespace
