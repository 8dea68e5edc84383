// Runs the engine turn by turn, on memory of a device that executes its work only when synchronized. Checks the number
// of synchronizations and the results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "host/proxy/wire_format.hpp"
#include "unit/proxy/stepped_world.hpp"

namespace pgas::testing {
namespace {

constexpr detail::pinned_sizes enough{};
constexpr detail::pinned_sizes little{.staging_bytes = 500, .updates = 3, .buffer_bytes = 1};

TEST(proxy_device_engine, a_turn_synchronizes_once_for_all_operations_of_a_message) {
  stepped_world world(2, false, 11, &enough);
  const producer ring = world.produce(0);
  std::vector<std::uint64_t> here(100, 99);
  std::vector<producer::ticket> fetched;
  for (std::uint64_t i = 0; i < 100; ++i) {
    ring.push(add(1, 8 * i, i));
    if (i % 8 == 0) fetched.push_back(ring.ask(add(1, 8 * i, 1)));
  }
  for (std::uint64_t i = 0; i < 100; ++i) ring.push(get(1, &here[i], 8 * i, 8));
  world.send_all(0);
  lazy_device& device = world.device(1);
  world.turn(1);
  EXPECT_EQ(device.waits, 1u);
  EXPECT_EQ(device.updates, 1u);
  EXPECT_EQ(device.copies, 100u);
  EXPECT_EQ(world.engine(1).statistics().messages, 1u);
  world.rounds_to_idle();
  EXPECT_EQ(device.waits, 1u);
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(here[i], i + (i % 8 == 0 ? 1 : 0));
  for (std::uint64_t i = 0; i < fetched.size(); ++i) ASSERT_EQ(ring.wait(fetched[i]).low, 8 * i);
}

TEST(proxy_device_engine, sources_are_read_together_and_may_then_be_reused) {
  for (const detail::pinned_sizes* const pinned : {&enough, &little}) {
    stepped_world world(3, false, 11, pinned);
    const producer ring = world.produce(0);
    std::vector<std::byte> data = pattern(32 * 40, 1);
    const std::vector<std::byte> original = data;
    std::vector<producer::ticket> reusable;
    for (std::uint64_t i = 0; i < 32; ++i) {
      const int pe = 1 + static_cast<int>(i % 2);
      if (i % 2 == 0)
        ring.push(put(pe, 64 * i, data.data() + 40 * i, 40));
      else
        reusable.push_back(ring.ask(put_signal(pe, 64 * i, data.data() + 40 * i, 40, 8 << 10, 1)));
    }
    std::size_t early = 0;
    world.device(0).before_work = [&] { early += reusable.empty() || !ring.is_there(reusable.back()) ? 0u : 1u; };
    world.turn(0);
    if (pinned == &enough) {
      EXPECT_EQ(world.device(0).waits, 1u);
    }
    EXPECT_EQ(early, 0u) << "the last source was not read yet";
    world.device(0).before_work = [] {};
    for (const producer::ticket& each : reusable) EXPECT_TRUE(ring.is_there(each));
    std::fill(data.begin(), data.end(), std::byte{0});
    world.rounds_to_idle();
    for (std::uint64_t i = 0; i < 32; ++i)
      ASSERT_EQ(std::memcmp(world.slot(1 + static_cast<int>(i % 2)) + 64 * i, original.data() + 40 * i, 40), 0) << i;
    EXPECT_EQ(world.word(2, 8 << 10), 16u);
  }
}

TEST(proxy_device_engine, operations_of_one_message_are_executed_in_order) {
  for (const detail::pinned_sizes* const pinned : {&enough, &little}) {
    stepped_world world(2, false, 11, pinned);
    const producer ring = world.produce(0);
    constexpr std::uint64_t rounds = 5;
    const std::vector<std::byte> data = pattern(rounds * 300, 1);
    std::vector<std::byte> back(data.size());
    std::vector<producer::ticket> before;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      ring.push(put_value(1, 0, 100 * i));
      ring.push(add(1, 0, 1));
      before.push_back(ring.ask(add(1, 0, 2)));
      before.push_back(ring.ask(get_value(1, 0)));
      ring.push(put(1, 64, data.data() + 300 * i, 300));
      ring.push(make(detail::command_kind::fence, 1));
      ring.push(signal(1, 0, 4));
      before.push_back(ring.ask(atomic(1, 0, detail::atomic_update::fetch, detail::datatype::u64, 0)));
    }
    world.send_all(0);
    EXPECT_EQ(world.engine(0).statistics().messages, 1u);
    world.rounds_to_idle();
    EXPECT_EQ(std::memcmp(world.slot(1) + 64, data.data() + 300 * (rounds - 1), 300), 0);
    for (std::uint64_t i = 0; i < rounds; ++i) {
      EXPECT_EQ(ring.wait(before[3 * i]).low, 100 * i + 1);
      EXPECT_EQ(ring.wait(before[3 * i + 1]).low, 100 * i + 3);
      EXPECT_EQ(ring.wait(before[3 * i + 2]).low, 100 * i + 7);
    }
  }
}

TEST(proxy_device_engine, atomic_operations_are_ordered_by_a_fence_between_them) {
  stepped_world world(2, false, 11, &enough);
  const producer ring = world.produce(0);
  ring.push(make(detail::command_kind::fence, 1));  // this fence has no earlier operation to order
  for (const std::uint64_t word : {0u, 8u}) ring.push(add(1, word, 1));
  ring.push(make(detail::command_kind::fence, 1));
  for (const std::uint64_t word : {16u, 24u}) ring.push(add(1, word, 1));
  ring.push(make(detail::command_kind::fence, 0));  // this fence is for another PE
  ring.push(add(1, 32, 1));
  ring.push(signal(1, 40, 1));
  ring.push(add(1, 48, 1));
  world.rounds_to_idle();
  EXPECT_EQ(world.device(1).fenced, (std::vector<bool>{false, false, true, false, false, true, false}));
  EXPECT_EQ(world.device(1).updates, 1u);
}

TEST(proxy_device_engine, more_than_the_staging_holds_goes_both_ways) {
  for (const detail::pinned_sizes* const pinned : {&enough, &little}) {
    stepped_world world(2, false, 11, pinned);
    const producer ring = world.produce(0);
    const std::vector<std::byte> data = pattern(slot_bytes, 1);
    std::vector<std::byte> back(slot_bytes);
    ring.push(put(1, 0, data.data(), data.size()));
    for (std::size_t at = 0; at < 1'000'000; at += 8000) ring.push(put(1, at, data.data() + at, 8000));
    world.rounds_to_idle();
    ring.push(get(1, back.data(), 0, back.size()));
    world.rounds_to_idle();
    EXPECT_EQ(back, data);
    if (pinned == &enough) {
      EXPECT_LT(world.device(0).waits, 100u) << "65 messages there, 65 back, 125 puts";
    }
  }
}

TEST(proxy_device_engine, replies_to_a_lost_pe_do_not_reach_another) {
  stepped_world world(3, false, 11, &enough);
  const std::vector<std::byte> data = pattern(8000, 1);
  std::memcpy(world.slot(0), data.data(), data.size());
  // A message of PE 1 with a valid get and an invalid operation.
  const detail::message_op_header good{detail::message_op_kind::get, {}, {}, 0, 8000, 0};
  const detail::request_part request{1};
  const detail::message_op_header bad{static_cast<detail::message_op_kind>(99), {}, {}, 0, 0, 0};
  std::vector<std::byte> message(sizeof(detail::message_header) + sizeof good + sizeof request + sizeof bad);
  const detail::message_header head{1, 0, 0, static_cast<std::uint32_t>(message.size())};
  std::memcpy(message.data(), &head, sizeof head);
  std::memcpy(message.data() + sizeof head, &good, sizeof good);
  std::memcpy(message.data() + sizeof head + sizeof good, &request, sizeof request);
  std::memcpy(message.data() + sizeof head + sizeof good + sizeof request, &bad, sizeof bad);
  world.transport(1).send(0, message, 0);
  world.transport(1).progress();
  std::vector<std::byte> here(1000);
  for (std::size_t i = 0; i < 1000; i += 100) world.produce(2).push(get(0, &here[i], 64 + i, 100));
  world.send_all(2);
  for (int i = 0; i < 5; ++i) world.turn(0);  // PE 0 refuses PE 1, and replies to PE 2 from the same buffers
  for (int i = 0; i < 5; ++i) world.turn(2);
  EXPECT_EQ(world.failures(0), 1);
  EXPECT_EQ(world.failures(2), 0);
  EXPECT_EQ(std::memcmp(here.data(), data.data() + 64, here.size()), 0);
}

}  // namespace
}  // namespace pgas::testing
