// Runs the engine turn by turn on one thread. Counts messages, chunks and rounds.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "unit/proxy/stepped_world.hpp"

namespace pgas::testing {
namespace {

TEST(progress_engine, many_values_to_one_pe_take_few_messages) {
  stepped_world world(2);
  const producer ring = world.produce(0);
  for (std::uint64_t i = 0; i < 1000; ++i) ring.push(put_value(1, 8 * i, i + 1));
  world.rounds_to_idle();
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(world.word(1, 8 * i), i + 1);
  EXPECT_LE(world.engine(0).statistics().messages, 5u);
  EXPECT_LE(world.engine(1).statistics().acknowledgements, 5u);
  EXPECT_EQ(world.engine(0).statistics().commands, 1000u);
  EXPECT_EQ(world.engine(1).statistics().message_ops, 1000u);
}

TEST(progress_engine, commands_are_counted_by_the_pe_that_they_are_for) {
  stepped_world world(3);
  const producer ring = world.produce(0);
  std::vector<std::byte> data = pattern(100'000, 1);
  ring.push(put_value(1, 0, 1));
  ring.push(put(1, 64, data.data(), 100));
  ring.push(put(1, 64, data.data(), data.size()));  // sent in chunks
  ring.push(put(1, 64, data.data(), 0));
  ring.push(put_signal(1, 64, data.data(), 24, 8, 1));
  ring.push(put_signal(2, 64, data.data(), 0, 8, 1));
  ring.push(get(2, data.data(), 64, 48));
  ring.push(add(2, 8, 1));
  ring.push(add(2, 8, 1));
  world.rounds_to_idle();
  EXPECT_EQ(world.engine(0).statistics().commands, 9u);
  const detail::command_counts& item = world.engine(0).commands_to(1);
  EXPECT_EQ(item.puts, 4u);
  EXPECT_EQ(item.put_bytes, 8 + 100 + data.size() + 24);
  EXPECT_EQ(item.signals, 1u);
  EXPECT_EQ(item.gets + item.get_bytes + item.atomics, 0u);
  const detail::command_counts& two = world.engine(0).commands_to(2);
  EXPECT_EQ(two.puts + two.put_bytes, 0u);
  EXPECT_EQ(two.gets, 1u);
  EXPECT_EQ(two.get_bytes, 48u);
  EXPECT_EQ(two.atomics, 2u);
  EXPECT_EQ(two.signals, 1u);
  EXPECT_EQ(world.engine(1).commands_to(0).puts, 0u);
}

TEST(progress_engine, fetches_are_answered_together) {
  stepped_world world(2);
  const producer ring = world.produce(0);
  std::vector<std::uint64_t> here(200);
  for (std::uint64_t i = 0; i < 200; ++i) world.word(1, 8 * i) = i;
  for (std::uint64_t i = 0; i < 200; ++i) ring.push(get(1, &here[i], 8 * i, 8));
  world.rounds_to_idle();
  for (std::uint64_t i = 0; i < 200; ++i) ASSERT_EQ(here[i], i);
  EXPECT_LE(world.engine(0).statistics().messages, 2u);
  EXPECT_LE(world.engine(1).statistics().messages, 2u);
}

TEST(progress_engine, a_small_put_with_signal_takes_one_message_where_nothing_else_is_in_flight) {
  stepped_world world(2);
  const producer ring = world.produce(0);
  const std::vector<std::byte> data = pattern(4000, 1);
  ring.push(put(1, 0, data.data(), 8));  // this put goes to the same PE, so the messages keep their order
  ring.push(put_signal(1, 64, data.data(), data.size(), 8, 1));
  world.send_all(0);
  world.turn(1);
  EXPECT_EQ(world.word(1, 8), 1u);
  EXPECT_EQ(std::memcmp(world.slot(1) + 64, data.data(), data.size()), 0);
  EXPECT_EQ(world.engine(0).statistics().messages, 1u);
  EXPECT_EQ(world.engine(1).statistics().message_ops, 2u);
}

TEST(progress_engine, a_burst_of_puts_with_signals_to_many_pes_goes_out_at_once) {
  constexpr int n = 9;
  constexpr int rounds = 10;
  stepped_world world(n);
  const producer ring = world.produce(0);
  const std::vector<std::byte> data = pattern(20'000, 1);
  for (int i = 0; i < rounds; ++i) {
    for (int pe = 1; pe < n; ++pe) ring.push(put_signal(pe, 64, data.data(), i % 2 == 0 ? 100 : data.size(), 8, 1));
  }
  const int taken = world.rounds_to_idle();
  for (int pe = 1; pe < n; ++pe) {
    EXPECT_EQ(world.word(pe, 8), static_cast<std::uint64_t>(rounds));
    EXPECT_EQ(std::memcmp(world.slot(pe) + 64, data.data(), data.size()), 0);
  }
  EXPECT_LT(taken, rounds * (n - 1) / 2) << "one after another would be a round trip for each";
  EXPECT_LE(world.engine(0).statistics().messages, 4u * (n - 1)) << "ready signals travel together";
}

TEST(progress_engine, signals_without_data_do_not_wait_for_one_another) {
  constexpr int n = 6;
  stepped_world world(n);
  const producer ring = world.produce(0);
  for (int pe = 1; pe < n; ++pe) ring.push(signal(pe, 8, 1));
  world.send_all(0);
  for (int pe = 1; pe < n; ++pe) {
    world.turn(pe);
    EXPECT_EQ(world.word(pe, 8), 1u);
  }
}

TEST(progress_engine, a_pe_that_does_not_listen_holds_back_its_sender_but_nobody_else) {
  stepped_world world(3);
  const producer ring = world.produce(0);
  const producer other = world.produce(2);
  const std::vector<std::byte> data = pattern(8000, 1);
  for (int i = 0; i < 1000; ++i) ring.push(put(1, 64, data.data(), data.size()));
  for (int i = 0; i < 1000; ++i) {
    world.turn(0);
    world.turn(2);
  }
  const detail::proxy_statistics stuck = world.engine(0).statistics();
  EXPECT_LE(stuck.messages, detail::message_window);
  EXPECT_LT(stuck.commands, 1000u) << "commands that can't be sent are not taken";
  EXPECT_LT(load_acquire(ring.ring().progress->taken), 1000u);
  other.push(add(0, 8, 1));  // PE 0 still serves other rings
  const producer::ticket answer = other.ask(get_value(0, 8));
  for (int i = 0; i < 10; ++i) {
    world.turn(0);
    world.turn(2);
  }
  EXPECT_TRUE(other.is_there(answer));
  world.rounds_to_idle();
  EXPECT_EQ(load_acquire(ring.ring().progress->completed), 1000u);
  EXPECT_EQ(std::memcmp(world.slot(1) + 64, data.data(), data.size()), 0);
}

TEST(progress_engine, bulk_puts_let_small_ones_pass) {
  for (const bool keys : {true, false}) {
    stepped_world world(2, keys);
    const producer ring = world.produce(0);
    const std::vector<std::byte> data = pattern(slot_bytes - 4096, 1);
    for (int i = 0; i < 10; ++i) ring.push(put(1, 4096, data.data(), data.size()));
    ring.push(put_value(1, 8, 1));
    int rounds = 0;
    for (; world.word(1, 8) == 0 && rounds < 1000; ++rounds) world.round();
    EXPECT_LT(rounds, world.rounds_to_idle() / 2) << keys;
    EXPECT_EQ(std::memcmp(world.slot(1) + 4096, data.data(), data.size()), 0);
  }
}

TEST(progress_engine, bulk_puts_go_by_the_transport_where_it_has_a_key) {
  stepped_world with(2, true);
  stepped_world without(2, false);
  const std::vector<std::byte> data = pattern(1'000'000, 1);
  for (stepped_world* const world : {&with, &without}) {
    world->produce(0).push(put(1, 64, data.data(), data.size()));
    world->rounds_to_idle();
    EXPECT_EQ(std::memcmp(world->slot(1) + 64, data.data(), data.size()), 0);
  }
  EXPECT_EQ(with.engine(0).statistics().chunk_bytes, data.size());
  EXPECT_EQ(with.engine(0).statistics().messages, 0u);
  EXPECT_EQ(without.engine(0).statistics().chunks, 0u);
  EXPECT_LE(without.engine(0).statistics().messages, 20u);
}

TEST(progress_engine, chunks_of_a_bulk_put_go_by_halves_of_the_window) {
  stepped_world world(2);
  const std::vector<std::byte> data = pattern(slot_bytes, 1);  // the number of chunks in flight reaches its limit
  world.produce(0).push(put(1, 0, data.data(), data.size()));
  for (std::uint64_t turn = 1; turn <= 2; ++turn) {
    world.turn(0);
    EXPECT_EQ(world.engine(0).statistics().chunks, 4 * turn);
  }
  world.rounds_to_idle();
  EXPECT_EQ(std::memcmp(world.slot(1), data.data(), data.size()), 0);
}

TEST(progress_engine, after_removal_memory_is_reached_by_messages_again) {
  stepped_world world(2);
  const std::vector<std::byte> data = pattern(100'000, 1);
  world.engine(0).remove_peer_memory(0);
  world.produce(0).push(put(1, 64, data.data(), data.size()));
  world.rounds_to_idle();
  EXPECT_EQ(world.engine(0).statistics().chunks, 0u);
  EXPECT_EQ(std::memcmp(world.slot(1) + 64, data.data(), data.size()), 0);
}

TEST(progress_engine, large_puts_that_are_not_issued_do_not_hold_back_a_list) {
  stepped_world world(2, false);
  const producer ring = world.produce(0);
  const std::vector<std::byte> data(std::size_t{1} << 20, std::byte{3});
  const std::vector<detail::listed_block> blocks(5, {64, reinterpret_cast<std::uintptr_t>(data.data()), 8});
  constexpr std::uint64_t puts = 20;
  for (std::uint64_t i = 0; i < puts; ++i) ring.push(put(1, 4096, data.data(), data.size()));
  ring.push(list(detail::command_kind::put_list, 1, blocks));
  ring.push(put_value(1, 8, 5));
  world.send_all(0);  // PE 1 acknowledges nothing
  EXPECT_EQ(load_acquire(ring.ring().progress->taken), puts + 2);
  world.rounds_to_idle();
  EXPECT_EQ(world.word(1, 8), 5u);
  EXPECT_EQ(world.word(1, 64), 0x0303030303030303u);
}

TEST(progress_engine, invalid_commands_end_the_world_once) {
  detail::command wrong[] = {put_value(2, 0, 0),
                             put_value(-1, 0, 0),
                             put_value(1, 0, 0, 17),
                             make(static_cast<detail::command_kind>(77), 1),
                             make(detail::command_kind::quiet, -2),
                             strided(detail::command_kind::put_strided, 1, 0, 0, nullptr, 0, ~std::uint64_t{0}, 3),
                             get_value(1, 0),
                             list(detail::command_kind::put_list, 1, std::vector<detail::listed_block>(1)),
                             list(detail::command_kind::get_list, 1, {})};
  wrong[6].answer = 16;
  wrong[7].bytes -= 1;
  wrong[8].bytes = (detail::workspace_view::most_listed + 1) * sizeof(detail::listed_block);
  for (const detail::command& each : wrong) {
    stepped_world world(2);
    const producer ring = world.produce(0);
    ring.push(each);
    ring.push(each);
    ring.push(put_value(1, 8, 5));
    for (int i = 0; i < 5; ++i) world.round();
    EXPECT_EQ(world.failures(0), 1) << static_cast<int>(each.kind);
    EXPECT_EQ(world.word(1, 8), 0u) << "later commands are dropped";
    EXPECT_EQ(load_acquire(ring.ring().progress->taken), 3u) << "and their producers not held back";
  }
}

}  // namespace
}  // namespace pgas::testing
