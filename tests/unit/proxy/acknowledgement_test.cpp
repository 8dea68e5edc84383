// When messages are acknowledged: together with a reply if there is a reply. Without a reply, immediately if a producer
// waits, and after a delay if no producer waits.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "unit/proxy/stepped_world.hpp"

namespace pgas::testing {
namespace {

using detail::command_kind;

/// The number of turns of a round trip, fewer than the turns by which an acknowledgement is delayed.
constexpr int few = 4;
constexpr int too_many = 1'000;  ///< more turns than any delay

class proxy_acknowledgement : public ::testing::Test {
 protected:
  [[nodiscard]] std::uint64_t alone(int pe) { return world_.engine(pe).statistics().acknowledgements; }
  void rounds(int count) {
    for (int i = 0; i < count; ++i) world_.round();
  }
  [[nodiscard]] bool complete(int pe) {
    const detail::ring_view ring = world_.produce(pe).ring();
    return load_acquire(ring.progress->completed) == load_acquire(ring.heads->next);
  }

  stepped_world world_{3};
  const std::vector<std::byte> data_ = pattern(1'000'000, 1);
};

TEST_F(proxy_acknowledgement, travels_with_the_reply) {
  constexpr std::uint64_t round_trips = 50;
  for (std::uint64_t i = 1; i <= round_trips; ++i) {
    for (int pe = 0; pe < 2; ++pe) {
      world_.produce(pe).push(put_signal(1 - pe, 64, data_.data(), 8, 8, 1));
      for (int turns = 0; world_.word(1 - pe, 8) != i && turns < few; ++turns) world_.round();
      ASSERT_EQ(world_.word(1 - pe, 8), i);
    }
  }
  EXPECT_EQ(alone(0), 0u);
  EXPECT_EQ(alone(1), 0u);
  EXPECT_EQ(world_.engine(0).statistics().messages, round_trips);
  EXPECT_EQ(world_.engine(1).statistics().messages, round_trips);
}

TEST_F(proxy_acknowledgement, goes_alone_after_a_delay) {
  world_.produce(0).push(put_value(1, 8, 1));
  rounds(few);
  EXPECT_EQ(world_.word(1, 8), 1u);
  EXPECT_FALSE(complete(0));
  EXPECT_FALSE(world_.engine(0).idle());
  EXPECT_TRUE(world_.engine(1).acks_due());
  EXPECT_FALSE(world_.engine(1).idle());
  int turns = 0;
  for (; world_.engine(1).acks_due() && turns < too_many; ++turns) world_.turn(1);
  EXPECT_LT(turns, too_many);
  EXPECT_EQ(alone(1), 1u);
  rounds(few);
  EXPECT_TRUE(complete(0));
  EXPECT_TRUE(world_.engine(0).idle());
  EXPECT_TRUE(world_.engine(1).idle());
  EXPECT_EQ(alone(0), 0u);
}

TEST_F(proxy_acknowledgement, goes_at_once_to_a_quiet_that_came_with_the_put) {
  for (const int pe : {-1, 1}) {
    world_.produce(0).push(put_value(1, 8, 1));
    const producer::ticket answer = world_.produce(0).ask(make(command_kind::quiet, pe));
    rounds(few);
    EXPECT_TRUE(world_.produce(0).is_there(answer)) << pe;
  }
  EXPECT_EQ(alone(0), 0u) << "the message of the put requests it";
}

TEST_F(proxy_acknowledgement, goes_at_once_to_a_quiet_that_came_later) {
  for (const int pe : {-1, 1}) {
    const std::uint64_t before = alone(0);
    world_.produce(0).push(put_value(1, 8, 1));
    world_.produce(0).push(put_value(2, 8, 1));
    rounds(few);
    ASSERT_FALSE(complete(0));
    const producer::ticket answer = world_.produce(0).ask(make(command_kind::quiet, pe));
    rounds(few);
    EXPECT_TRUE(world_.produce(0).is_there(answer)) << pe;
    EXPECT_EQ(alone(0) - before, pe < 0 ? 2u : 1u) << "a request to each PE";
    world_.rounds_to_idle();
  }
}

TEST_F(proxy_acknowledgement, of_data_before_a_signal_goes_at_once) {
  world_.produce(0).push(put_value(1, 8, 1));
  rounds(few);
  world_.produce(0).push(put_signal(2, 64, data_.data(), 8, 8, 1));
  rounds(2 * few);
  EXPECT_EQ(world_.word(2, 8), 1u);
}

TEST_F(proxy_acknowledgement, of_a_deferred_signal_goes_at_once_to_a_quiet) {
  world_.produce(0).push(put_value(1, 8, 1));
  world_.produce(0).push(put_signal(2, 64, data_.data(), 8, 8, 1));
  const producer::ticket answer = world_.produce(0).ask(make(command_kind::quiet, -1));
  rounds(2 * few);
  EXPECT_TRUE(world_.produce(0).is_there(answer));
}

TEST_F(proxy_acknowledgement, of_puts_before_a_fence_and_a_bulk_put_goes_at_once) {
  world_.produce(0).push(put_value(1, 8, 1));
  rounds(few);
  world_.produce(0).push(make(command_kind::fence, 1));
  world_.produce(0).push(put(1, 64, data_.data(), data_.size()));
  rounds(few);
  EXPECT_GT(world_.engine(0).statistics().chunks, 0u);
}

TEST_F(proxy_acknowledgement, of_a_quarter_of_the_window_goes_at_once) {
  constexpr std::uint64_t quarter = detail::message_window / 4;
  for (std::uint64_t i = 1; i <= quarter; ++i) {
    EXPECT_EQ(alone(1), 0u);
    world_.produce(0).push(put_value(1, 8, i));
    rounds(2);
    ASSERT_EQ(world_.word(1, 8), i);
  }
  EXPECT_EQ(world_.engine(0).statistics().messages, quarter);
  EXPECT_EQ(alone(1), 1u);
  rounds(few);
  EXPECT_TRUE(complete(0));
}

TEST_F(proxy_acknowledgement, of_a_quarter_of_the_commands_in_flight_goes_at_once) {
  constexpr std::uint64_t quarter = detail::in_flight_commands::window / 4;
  for (std::uint64_t i = 1; i <= quarter; ++i) world_.produce(0).push(put_value(1, 8, i));
  rounds(2 * few);
  EXPECT_LT(world_.engine(0).statistics().messages, detail::message_window / 4);
  EXPECT_TRUE(complete(0));
}

TEST_F(proxy_acknowledgement, of_parts_of_a_bulk_put_goes_at_once) {
  stepped_world world(2, false);
  constexpr std::size_t parts = 3;  // fewer messages than a quarter of the window
  const std::size_t bytes = parts * (detail::largest_message - 1024);
  const producer ring = world.produce(0);
  ring.push(put(1, 0, data_.data(), bytes));
  for (int i = 0; i < few; ++i) world.round();
  EXPECT_EQ(std::memcmp(world.slot(1), data_.data(), bytes), 0);
  EXPECT_GE(world.engine(0).statistics().messages, parts);
  EXPECT_EQ(load_acquire(ring.ring().progress->completed), 1u);
}

TEST_F(proxy_acknowledgement, of_a_put_to_itself_is_no_exception) {
  world_.produce(0).push(put_value(0, 8, 1));
  rounds(few);
  EXPECT_FALSE(complete(0));
  world_.produce(0).push(make(command_kind::quiet, 0));
  rounds(few);
  EXPECT_TRUE(complete(0));
}

}  // namespace
}  // namespace pgas::testing
