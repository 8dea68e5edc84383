// The order of effects, with every kind of network and memory.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "pgas/detail/isa/ptx_memory.hpp"
#include "unit/proxy/pes.hpp"

namespace pgas::testing {
namespace {

using detail::atomic_update;
using detail::command_kind;
using detail::load_relaxed;

class proxy_order : public ::testing::TestWithParam<variant> {};
INSTANTIATE_TEST_SUITE_P(over, proxy_order, ::testing::ValuesIn(variants), variant_name);

/// Waits like a kernel: polls with relaxed loads, then executes a fence.
void wait_until_equal(const std::uint64_t& word, std::uint64_t value) {
  wait_for("a word", [&] { return load_relaxed(&word) == value; });
  detail::fence_acquire();
}

constexpr std::uint64_t flag = 0;
constexpr std::uint64_t data_at = 4096;

TEST_P(proxy_order, a_value_after_a_fence_is_seen_after_the_data) {
  proxied_world world(2, GetParam());
  const producer ring = world[0].produce();
  for (std::uint64_t round = 1; round <= 30; ++round) {
    const std::size_t bytes = round % 3 == 0 ? 700'001 : round % 3 == 1 ? 24 : 9000;
    const std::vector<std::byte> data = pattern(bytes, static_cast<unsigned>(round));
    const producer::ticket reusable = ring.ask(put(1, data_at, data.data(), bytes));
    ring.push(make(command_kind::fence, 1));
    if (GetParam().staged)
      ring.push(add(1, flag, 1));  // the CPU's copies are not atomic
    else
      ring.push(put_value(1, flag, round));
    wait_until_equal(world[1].word(flag), round);
    ASSERT_EQ(std::memcmp(world[1].slot() + data_at, data.data(), bytes), 0) << bytes;
    ring.wait(reusable);
  }
}

TEST_P(proxy_order, operations_after_a_fence_do_not_overtake_earlier_ones) {
  proxied_world world(2, GetParam());
  const producer ring = world[0].produce();
  constexpr std::size_t sizes[] = {16, 9000, 400'000};
  for (unsigned round = 0; round < 27; ++round) {
    const std::size_t bytes[] = {sizes[round % 3], sizes[round / 3 % 3], sizes[round / 9]};
    std::vector<std::vector<std::byte>> data;
    for (unsigned i = 0; i < 3; ++i) {
      data.push_back(pattern(bytes[i], round * 3 + i));
      ring.push(put(1, data_at, data[i].data(), bytes[i]));
      ring.push(make(command_kind::fence, 1));
    }
    std::vector<std::byte> back(bytes[2]);
    ring.call(get(1, back.data(), data_at, back.size()));
    ASSERT_EQ(back, data[2]) << round;
    ring.quiet();
  }
}

TEST_P(proxy_order, a_signal_is_seen_after_its_data) {
  proxied_world world(2, GetParam());
  const producer ring = world[0].produce();
  for (std::uint64_t round = 1; round <= 30; ++round) {
    const std::size_t bytes = round % 3 == 0 ? 1'000'003 : round % 3 == 1 ? 24 : 30'000;
    const std::vector<std::byte> data = pattern(bytes, static_cast<unsigned>(round));
    const auto update = round % 2 == 0 ? atomic_update::set : atomic_update::add;
    const producer::ticket reusable =
        ring.ask(put_signal(1, data_at, data.data(), bytes, flag, round % 2 == 0 ? round : 1, update));
    wait_until_equal(world[1].word(flag), round);
    ASSERT_EQ(std::memcmp(world[1].slot() + data_at, data.data(), bytes), 0) << bytes;
    ring.wait(reusable);
  }
}

TEST_P(proxy_order, a_signal_is_seen_after_data_that_its_sender_put_elsewhere) {
  proxied_world world(3, GetParam());
  const producer ring = world[0].produce();
  for (std::uint64_t round = 1; round <= 20; ++round) {
    const std::size_t bytes = round % 2 == 0 ? 600'000 : 48;
    const std::vector<std::byte> data = pattern(bytes, static_cast<unsigned>(round));
    const producer::ticket reusable = ring.ask(put(1, data_at, data.data(), bytes));
    ring.push(add(1, 8, 1));
    if (round % 3 == 0)
      ring.push(signal(2, flag, 1));
    else if (round % 3 == 1)
      ring.push(put_signal(2, data_at, data.data(), 40, flag, 1));
    else
      ring.push(put_value_signal(2, data_at, round, 8, flag, 1));
    wait_until_equal(world[2].word(flag), round);
    if (round % 3 == 2) {
      EXPECT_EQ(load_relaxed(&world[2].word(data_at)), round);
    }
    EXPECT_EQ(load_relaxed(&world[1].word(8)), round);
    ASSERT_EQ(std::memcmp(world[1].slot() + data_at, data.data(), bytes), 0) << bytes;
    ring.wait(reusable);
  }
}

TEST_P(proxy_order, signals_to_one_pe_are_seen_in_order) {
  proxied_world world(3, GetParam());
  const producer ring = world[0].produce();
  const std::vector<std::byte> data = pattern(300'000, 1);
  std::thread watcher([&] {
    std::uint64_t last = 0;
    wait_for("the last signal", [&] {
      const std::uint64_t now = load_relaxed(&world[1].word(flag));
      EXPECT_GE(now, last);
      last = now;
      return now == 200;
    });
  });
  for (std::uint64_t i = 1; i <= 200; ++i) {
    if (i % 20 == 0) ring.push(put(2, data_at, data.data(), data.size()));
    if (i % 3 == 0)
      ring.push(signal(1, flag, i, atomic_update::set));
    else if (i % 10 == 0)  // puts are unordered, so small and bulk puts have different destinations
      ring.push(put_signal(1, data_at, data.data(), data.size(), flag, i, atomic_update::set));
    else
      ring.push(put_signal(1, data_at + data.size(), data.data(), 16, flag, i, atomic_update::set));
  }
  watcher.join();
  ring.quiet();
}

TEST_P(proxy_order, quiet_is_answered_when_all_before_it_is_complete) {
  proxied_world world(4, GetParam());
  const producer ring = world[0].produce();
  const std::vector<std::byte> data = pattern(400'000, 1);
  for (unsigned round = 0; round < 10; ++round) {
    for (int pe = 1; pe < 4; ++pe) {
      for (std::uint64_t i = 0; i < 20; ++i) ring.push(put_value(pe, 8 * i, round * 100 + i));
      ring.push(put(pe, data_at, data.data() + round * 8, 300'000));
      ring.push(put_signal(pe, data_at + 500'000, data.data() + round, 64, 800, 1));
    }
    ring.quiet(2);
    EXPECT_EQ(load_relaxed(&world[2].word(8 * 19)), round * 100 + 19);
    ASSERT_EQ(std::memcmp(world[2].slot() + data_at, data.data() + round * 8, 300'000), 0);
    EXPECT_EQ(load_relaxed(&world[2].word(800)), round + 1);
    ring.quiet();
    for (int pe = 1; pe < 4; ++pe) {
      ASSERT_EQ(std::memcmp(world[pe].slot() + data_at, data.data() + round * 8, 300'000), 0);
      ASSERT_EQ(std::memcmp(world[pe].slot() + data_at + 500'000, data.data() + round, 64), 0);
      EXPECT_EQ(load_relaxed(&world[pe].word(800)), round + 1);
    }
  }
}

TEST_P(proxy_order, the_source_may_be_reused_after_the_answer) {
  proxied_world world(2, GetParam());
  const producer ring = world[0].produce();
  for (const std::size_t bytes : {8u, 5000u, 200'000u, 900'000u}) {
    const std::vector<std::byte> original = pattern(bytes, 9);
    std::vector<std::byte> source = original;
    ring.call(put(1, data_at, source.data(), bytes));
    std::memset(source.data(), 0x55, bytes);
    ring.quiet();
    ASSERT_EQ(std::memcmp(world[1].slot() + data_at, original.data(), bytes), 0) << bytes;
  }
}

}  // namespace
}  // namespace pgas::testing
