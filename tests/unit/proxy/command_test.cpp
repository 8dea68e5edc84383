// Every kind of command, over every kind of network and memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "pgas/detail/isa/ptx_memory.hpp"
#include "unit/proxy/pes.hpp"

namespace pgas::testing {
namespace {

using detail::atomic_update;
using detail::command_kind;
using detail::datatype;

class proxy_commands : public ::testing::TestWithParam<variant> {};
INSTANTIATE_TEST_SUITE_P(over, proxy_commands, ::testing::ValuesIn(variants), variant_name);

constexpr std::size_t sizes[] = {1, 2, 3, 7, 8, 9, 64, 1000, 8192, 8193, 65000, 100'003, 1'500'001};

TEST_P(proxy_commands, put_of_any_size_arrives_and_nothing_around_it_changes) {
  proxied_world world(2, GetParam());
  const producer ring = world[0].produce();
  for (const std::size_t bytes : sizes) {
    for (const std::size_t shift : {0u, 1u, 5u}) {
      std::memset(world[1].slot(), 0xee, bytes + 64);
      const std::vector<std::byte> data = pattern(bytes + 8, static_cast<unsigned>(bytes));
      ring.call(put(1, 16 + shift, data.data() + shift, bytes));
      ring.quiet();
      ASSERT_EQ(std::memcmp(world[1].slot() + 16 + shift, data.data() + shift, bytes), 0) << bytes << " at " << shift;
      ASSERT_EQ(world[1].slot()[15 + shift], std::byte{0xee});
      ASSERT_EQ(world[1].slot()[16 + shift + bytes], std::byte{0xee});
    }
  }
}

TEST_P(proxy_commands, get_of_any_size_returns_the_data) {
  proxied_world world(2, GetParam());
  const producer ring = world[0].produce();
  const std::vector<std::byte> data = pattern(2'000'000, 3);
  std::memcpy(world[1].slot(), data.data(), data.size());
  for (const std::size_t bytes : sizes) {
    for (const std::size_t shift : {0u, 3u}) {
      std::vector<std::byte> here(bytes + 16, std::byte{0xee});
      ring.call(get(1, here.data() + 8, 24 + shift, bytes));
      ASSERT_EQ(std::memcmp(here.data() + 8, data.data() + 24 + shift, bytes), 0) << bytes << " at " << shift;
      ASSERT_EQ(here[7], std::byte{0xee});
      ASSERT_EQ(here[8 + bytes], std::byte{0xee});
    }
  }
}

TEST_P(proxy_commands, values_of_up_to_16_bytes_go_both_ways) {
  proxied_world world(2, GetParam());
  const producer ring = world[0].produce();
  constexpr std::uint64_t low = 0x1122334455667788;
  constexpr std::uint64_t high = 0x99aabbccddeeff00;
  const std::uint64_t both[2] = {low, high};
  for (std::size_t bytes = 1; bytes <= 16; ++bytes) {
    std::memset(world[1].slot(), 0, 64);
    ring.push(put_value(1, 8, low, bytes, high));
    ring.quiet(1);
    EXPECT_EQ(std::memcmp(world[1].slot() + 8, both, bytes), 0) << bytes;
    EXPECT_EQ(world[1].slot()[8 + bytes], std::byte{0}) << bytes;
    const producer::values found = ring.call(get_value(1, 8, bytes));
    const std::uint64_t words[2] = {found.low, found.high};
    EXPECT_EQ(std::memcmp(words, both, bytes), 0) << bytes;
    EXPECT_EQ(std::memcmp(reinterpret_cast<const std::byte*>(words) + bytes, world[1].slot() + 40, 16 - bytes), 0)
        << "bytes that were not requested are zero";
  }
}

TEST_P(proxy_commands, a_signal_with_a_value_before_it_needs_no_memory) {
  proxied_world world(2, GetParam());
  const producer ring = world[0].produce();
  const std::uint64_t data = 0x8877665544332211;
  for (std::size_t bytes = 0; bytes <= 8; ++bytes) {
    std::memset(world[1].slot(), 0, 64);
    ring.push(put_value_signal(1, 8, data, bytes, 32, 5));
    ring.push(put_value_signal(1, 40, data, bytes, 56, 6, atomic_update::set));
    ring.quiet(1);
    for (const std::size_t at : {std::size_t{8}, std::size_t{40}}) {
      EXPECT_EQ(std::memcmp(world[1].slot() + at, &data, bytes), 0) << bytes;
      EXPECT_EQ(world[1].slot()[at + bytes], std::byte{0}) << bytes;
    }
    EXPECT_EQ(world[1].word(32), 5u);
    EXPECT_EQ(world[1].word(56), 6u);
  }
}

TEST_P(proxy_commands, nothing_moves_where_there_are_no_bytes) {
  proxied_world world(2, GetParam());
  const producer ring = world[0].produce();
  ring.call(put(1, 0, nullptr, 0));
  ring.call(get(1, nullptr, 0, 0));
  ring.push(put_value(1, 0, 1, 0));
  ring.call(strided(command_kind::put_strided, 1, 0, 8, nullptr, 8, 0, 5));
  ring.call(strided(command_kind::get_strided, 1, 0, 8, nullptr, 8, 5, 0));
  ring.call(list(command_kind::put_list, 1, {}));
  ring.call(list(command_kind::get_list, 1, {}));
  const std::vector<detail::listed_block> empty{{0, 0, 0}, {8, 0, 0}};
  ring.call(list(command_kind::put_list, 1, empty));
  ring.call(put_signal(1, 0, nullptr, 0, 8, 3));
  ring.quiet();
  EXPECT_EQ(world[1].word(0), 0u);
  EXPECT_EQ(world[1].word(8), 3u);
}

TEST_P(proxy_commands, blocks_at_regular_distances_go_both_ways) {
  proxied_world world(2, GetParam());
  const producer ring = world[0].produce();
  struct shape {
    std::size_t bytes, count;
    std::int64_t local_step, remote_step;
  };
  const shape shapes[] = {{1, 1, 1, 1},
                          {1, 100, 3, 5},
                          {8, 1000, 16, 24},
                          {8, 20'000, 16, 24},
                          {24, 7, 100, 33},
                          {4, 50, -8, 12},
                          {4, 50, 8, -12},
                          {70'000, 3, 80'001, 90'000},
                          {12, 9, 12, 12},
                          {9000, 10, 9001, 9100},
                          {300'000, 2, 300'000, 400'000}};
  for (const shape& s : shapes) {
    const std::size_t local_bytes = s.bytes + (s.count - 1) * static_cast<std::size_t>(std::abs(s.local_step));
    const std::size_t remote_bytes = s.bytes + (s.count - 1) * static_cast<std::size_t>(std::abs(s.remote_step));
    std::vector<std::byte> local = pattern(local_bytes, 5);
    std::vector<std::byte> expected = pattern(remote_bytes, 6);
    std::memcpy(world[1].slot(), expected.data(), remote_bytes);
    const std::int64_t last = static_cast<std::int64_t>(s.count) - 1;
    const std::size_t first_local = s.local_step < 0 ? static_cast<std::size_t>(-s.local_step * last) : 0;
    const std::size_t first_remote = s.remote_step < 0 ? static_cast<std::size_t>(-s.remote_step * last) : 0;
    const auto at = [](std::vector<std::byte>& in, std::size_t first, std::int64_t step, std::size_t i) {
      return in.data() + static_cast<std::ptrdiff_t>(first) + static_cast<std::ptrdiff_t>(i) * step;
    };
    for (std::size_t i = 0; i < s.count; ++i)
      std::memcpy(at(expected, first_remote, s.remote_step, i), at(local, first_local, s.local_step, i), s.bytes);
    ring.call(strided(command_kind::put_strided, 1, first_remote, s.remote_step, local.data() + first_local,
                      s.local_step, s.bytes, s.count));
    ring.quiet();
    ASSERT_EQ(std::memcmp(world[1].slot(), expected.data(), remote_bytes), 0) << s.bytes << " x " << s.count;

    std::vector<std::byte> back = pattern(local_bytes, 7);
    std::vector<std::byte> back_expected = back;
    for (std::size_t i = 0; i < s.count; ++i)
      std::memcpy(at(back_expected, first_local, s.local_step, i), at(expected, first_remote, s.remote_step, i),
                  s.bytes);
    ring.call(strided(command_kind::get_strided, 1, first_remote, s.remote_step, back.data() + first_local,
                      s.local_step, s.bytes, s.count));
    ASSERT_EQ(back, back_expected) << s.bytes << " x " << s.count;
  }
}

TEST_P(proxy_commands, lists_go_both_ways) {
  proxied_world world(2, GetParam());
  const producer ring = world[0].produce();
  constexpr std::size_t large = 1'500'001;
  struct shape {
    std::size_t bytes, count;
  };
  // The first blocks of a list have the sizes 0, 1 and `large`.
  for (const shape& s : {shape{1, 10}, {24, 5000}, {2048, 300}, {9000, 40}, {100'003, 5}}) {
    const std::size_t step = s.bytes + 5;
    const std::size_t total = 3 + large + s.count * step;
    const std::vector<std::byte> local = pattern(total, 5);
    std::vector<std::byte> expected = pattern(total, 6);
    std::memcpy(world[1].slot(), expected.data(), total);
    std::vector<detail::listed_block> blocks;
    const auto add = [&](std::size_t to, std::size_t from, std::size_t bytes) {
      blocks.push_back({to, reinterpret_cast<std::uintptr_t>(local.data() + from), bytes});
      std::memcpy(expected.data() + to, local.data() + from, bytes);
    };
    add(0, 0, 0);
    add(1, 2, 1);
    add(3, 3, large);
    for (std::size_t i = 0; i < s.count; ++i) add(3 + large + i * step, 3 + large + (s.count - 1 - i) * step, s.bytes);
    ring.call(list(command_kind::put_list, 1, blocks));
    const std::vector<detail::listed_block> sent = blocks;
    blocks.assign(blocks.size(), {~std::uint64_t{0}, 0, ~std::uint64_t{0}});  // after the answer the array is not read
    ring.quiet();
    ASSERT_EQ(std::memcmp(world[1].slot(), expected.data(), total), 0) << s.bytes << " x " << s.count;

    std::vector<std::byte> back = pattern(total, 7);
    std::vector<std::byte> back_expected = back;
    blocks = sent;
    for (detail::listed_block& each : blocks) {
      const std::size_t at = each.local - reinterpret_cast<std::uintptr_t>(local.data());
      std::memcpy(back_expected.data() + at, local.data() + at, each.bytes);
      each.local = reinterpret_cast<std::uintptr_t>(back.data() + at);
    }
    ring.call(list(command_kind::get_list, 1, blocks));
    ring.quiet(1);
    ASSERT_TRUE(back == back_expected) << s.bytes << " x " << s.count;
  }
}

TEST_P(proxy_commands, a_signal_after_many_lists_follows_their_data) {
  proxied_world world(2, GetParam());
  const producer ring = world[0].produce();
  constexpr std::uint64_t lists = 100;  // more lists than the number of lists that may wait for one PE
  constexpr std::uint64_t each = 500;
  const std::vector<std::byte> local = pattern(lists * each * 8, 3);
  for (std::uint64_t k = 0; k < lists; ++k) {
    std::vector<detail::listed_block> blocks;
    for (std::uint64_t i = 0; i < each; ++i) {
      const std::uint64_t at = (k + i * lists) * 8;
      blocks.push_back({64 + at, reinterpret_cast<std::uintptr_t>(local.data() + at), 8});
    }
    ring.call(list(command_kind::put_list, 1, blocks));
  }
  ring.push(signal(1, 0, 1));
  wait_for("the signal", [&] { return load_acquire(world[1].word(0)) == 1; });
  EXPECT_EQ(std::memcmp(world[1].slot() + 64, local.data(), local.size()), 0);
  ring.quiet();
}

TEST_P(proxy_commands, atomic_operations_of_all_kinds_return_the_old_value) {
  proxied_world world(2, GetParam());
  const producer ring = world[0].produce();
  const auto bits_of = [](auto value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  };
  struct step {
    atomic_update update;
    datatype as;
    std::uint64_t before, value, condition, after;
  };
  const std::uint64_t minus_two_32 = 0xfffffffe;
  const std::uint64_t minus_two = ~std::uint64_t{1};
  const step steps[] = {
      {atomic_update::fetch, datatype::u64, 77, 0, 0, 77},
      {atomic_update::set, datatype::u32, 5, 6, 0, 6},
      {atomic_update::set, datatype::f64, bits_of(1.0), bits_of(2.5), 0, bits_of(2.5)},
      {atomic_update::add, datatype::u64, 5, 6, 0, 11},
      {atomic_update::add, datatype::i32, minus_two_32, 1, 0, 0xffffffff},
      {atomic_update::add, datatype::f32, bits_of(1.5f), bits_of(2.0f), 0, bits_of(3.5f)},
      {atomic_update::add, datatype::f64, bits_of(1.5), bits_of(2.0), 0, bits_of(3.5)},
      {atomic_update::add, datatype::f16, 0x3c00, 0x4000, 0, 0x4200},
      {atomic_update::add, datatype::bf16, 0x3f80, 0x4000, 0, 0x4040},
      {atomic_update::add, datatype::f16x2, 0x3c003c00, 0x40003c00, 0, 0x42004000},
      {atomic_update::add, datatype::bf16x2, 0x3f803f80, 0x40003f80, 0, 0x40404000},
      {atomic_update::bit_and, datatype::u64, 0xff0, 0x0ff, 0, 0x0f0},
      {atomic_update::bit_or, datatype::u32, 0xf00, 0x00f, 0, 0xf0f},
      {atomic_update::bit_xor, datatype::i64, 0xff0, 0x0ff, 0, 0xf0f},
      {atomic_update::min, datatype::i64, 3, minus_two, 0, minus_two},
      {atomic_update::min, datatype::u64, 3, minus_two, 0, 3},
      {atomic_update::max, datatype::i32, minus_two_32, 1, 0, 1},
      {atomic_update::max, datatype::f64, bits_of(-1.0), bits_of(-2.0), 0, bits_of(-1.0)},
      {atomic_update::swap, datatype::u32, 1, 2, 0, 2},
      {atomic_update::swap, datatype::f64, bits_of(1.0), bits_of(2.0), 0, bits_of(2.0)},
      {atomic_update::compare_swap, datatype::u64, 5, 9, 5, 9},
      {atomic_update::compare_swap, datatype::u64, 5, 9, 6, 5},
      {atomic_update::compare_swap, datatype::i32, 5, 9, 5, 9},
  };
  for (const step& s : steps) {
    world[1].word(64) = s.before;
    const producer::values old = ring.call(atomic(1, 64, s.update, s.as, s.value, s.condition));
    if (s.update != atomic_update::set) {
      EXPECT_EQ(old.low, s.before) << static_cast<int>(s.update) << " of kind " << static_cast<int>(s.as);
    }
    ring.quiet();
    EXPECT_EQ(detail::load_relaxed(&world[1].word(64)), s.after)
        << static_cast<int>(s.update) << " of kind " << static_cast<int>(s.as);
    if (s.update == atomic_update::fetch) continue;
    world[1].word(64) = s.before;
    ring.push(atomic(1, 64, s.update, s.as, s.value, s.condition));
    ring.quiet(1);
    EXPECT_EQ(detail::load_relaxed(&world[1].word(64)), s.after) << "without an answer";
  }
}

TEST_P(proxy_commands, a_pe_reaches_itself_too) {
  proxied_world world(2, GetParam());
  const producer ring = world[0].produce();
  const std::vector<std::byte> data = pattern(200'000, 1);
  std::vector<std::byte> back(data.size());
  ring.call(put(0, 128, data.data(), data.size()));
  ring.quiet(0);
  EXPECT_EQ(std::memcmp(world[0].slot() + 128, data.data(), data.size()), 0);
  ring.call(get(0, back.data(), 128, back.size()));
  EXPECT_EQ(back, data);
  EXPECT_EQ(ring.call(add(0, 0, 5)).low, 0u);
  ring.push(put_signal(0, 128, data.data(), 8, 8, 1));
  ring.quiet();
  EXPECT_EQ(ring.call(get_value(0, 0)).low, 5u);
  EXPECT_EQ(ring.call(get_value(0, 8)).low, 1u);
}

TEST_P(proxy_commands, completed_counts_every_command_once_all_is_quiet) {
  proxied_world world(3, GetParam());
  const producer ring = world[0].produce();
  for (std::uint64_t i = 0; i < 500; ++i) ring.push(put_value(1 + static_cast<int>(i % 2), 8 * i, i));
  ring.quiet();
  wait_for("completed", [&] { return load_acquire(ring.ring().progress->completed) == 501; });
  EXPECT_EQ(load_acquire(ring.ring().heads->next), 501u);
  for (std::uint64_t i = 0; i < 500; ++i)
    ASSERT_EQ(detail::load_relaxed(&world[1 + static_cast<int>(i % 2)].word(8 * i)), i);
}

}  // namespace
}  // namespace pgas::testing
