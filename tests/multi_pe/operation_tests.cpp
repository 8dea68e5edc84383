// One-sided operations called from the host, blocking and nonblocking, and on streams; also launches. The tests run on
// either heap, with any number of PEs, compiled by g++ and by nvcc.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "../code_of.hpp"
#include "pgas/copy_blocks.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

using pgas::cmp;
using pgas::code;
using pgas::signal_op;
using pgas_test::code_of;

/// A world whose PEs are neighbours in a ring.
struct ring {
  pgas::world world = pgas::world::join();
  int me = world.my_pe();
  int right = (me + 1) % world.n_pes();
  int left = (me + world.n_pes() - 1) % world.n_pes();

  /// This PE's elements of symmetric memory.
  template <class T>
  std::vector<T> read(const pgas::symmetric<T>& memory) {
    std::vector<T> values(memory.size());
    pgas::get(world, values.data(), memory.data(), values.size(), me);
    return values;
  }
  template <class T>
  void fill(pgas::symmetric<T>& memory, T value) {
    const std::vector<T> values(memory.size(), value);
    pgas::put(world, memory.data(), values.data(), values.size(), me);
    world.barrier_all();
  }
};

std::vector<int> numbers(std::size_t n, int from) {
  std::vector<int> values(n);
  std::iota(values.begin(), values.end(), from);
  return values;
}

/// The blocks of a list, in memory that kernels can read.
class block_array {
 public:
  block_array(pgas::world& world, const std::vector<pgas::copy_block>& blocks)
      : memory_(world.allocate<pgas::copy_block>(blocks.size())) {
    pgas::put(world, memory_.data(), blocks.data(), blocks.size(), world.my_pe());
  }
  [[nodiscard]] pgas::copy_list list() const { return {memory_.data(), memory_.size()}; }

 private:
  pgas::symmetric<pgas::copy_block> memory_;
};

TEST(Rma, lists_copy_each_block) {
  ring r;
  constexpr std::size_t n = 5000;
  auto inbox = r.world.allocate<int>(n);
  auto outbox = r.world.allocate<int>(n);
  auto again = r.world.allocate<int>(n);
  const std::vector<int> mine = numbers(n, 10'000 * (r.me + 1));
  pgas::put(r.world, outbox.data(), mine.data(), n, r.me);
  struct part {
    std::size_t to;
    std::size_t from;
    std::size_t count;
  };
  const part parts[] = {{0, 40, 3}, {10, 1, 1}, {100, 200, 1000}, {1200, 3, 0}, {1201, 1300, 3600}};
  std::vector<pgas::copy_block> remote;
  std::vector<pgas::copy_block> back;
  std::vector<int> expected(n, -1);
  for (const part& p : parts) {
    remote.push_back({inbox.data() + p.to, outbox.data() + p.from, p.count * sizeof(int)});
    back.push_back({again.data() + p.from, inbox.data() + p.to, p.count * sizeof(int)});
    for (std::size_t i = 0; i < p.count; ++i) expected[p.to + i] = 10'000 * (r.left + 1) + static_cast<int>(p.from + i);
  }
  const block_array put_blocks(r.world, remote);
  const block_array get_blocks(r.world, back);
  pgas::stream on(r.world);
  for (int way = 0; way < 3; ++way) {
    r.fill(inbox, -1);
    r.fill(again, -1);
    if (way == 0) pgas::put_list(r.world, put_blocks.list(), r.right);
    if (way == 1) pgas::put_list_nbi(r.world, put_blocks.list(), r.right, 1);
    if (way == 1) pgas::quiet(r.world);
    if (way == 2) pgas::put_list(r.world, on, put_blocks.list(), r.right);
    if (way == 2) pgas::barrier_all(r.world, on);
    if (way != 2) r.world.barrier_all();
    if (way == 0) pgas::get_list(r.world, get_blocks.list(), r.right);
    if (way == 1) pgas::get_list_nbi(r.world, get_blocks.list(), r.right, 3);
    if (way == 1) pgas::quiet(r.world);
    if (way == 2) pgas::get_list(r.world, on, get_blocks.list(), r.right);
    if (way == 2) on.synchronize();
    EXPECT_EQ(r.read(inbox), expected) << way;
    const std::vector<int> got = r.read(again);
    for (const part& p : parts)
      for (std::size_t i = 0; i < p.count; ++i) ASSERT_EQ(got[p.from + i], mine[p.from + i]) << way;
    r.world.barrier_all();
  }
}

TEST(Rma, lists_in_pageable_memory_are_read_during_the_call) {
  ring r;
  const bool on_gpu = r.world.heap() == pgas::heap_kind::cuda;  // the host heap reads the list when the stream runs
  constexpr std::size_t pages = 61;
  constexpr std::size_t page = 90;
  auto inbox = r.world.allocate<int>(pages * page);
  auto outbox = r.world.allocate<int>(pages * page);
  pgas::stream on(r.world);
  std::vector<std::int32_t> order(pages);
  std::vector<pgas::copy_block> blocks(pages);
  std::vector<int> expected(pages * page);
  for (int way = 0; way < 4; ++way) {
    std::vector<int> mine = numbers(pages * page, 10'000 * (r.me + 1) + way);
    pgas::put(r.world, outbox.data(), mine.data(), mine.size(), r.me);
    r.fill(inbox, -1);
    for (std::size_t i = 0; i < pages; ++i) {
      const std::size_t to = i * 7 % pages;
      order[i] = static_cast<std::int32_t>(to);
      blocks[i] = {inbox.data() + to * page, outbox.data() + i * page, page * sizeof(int)};
      for (std::size_t k = 0; k < page; ++k)
        expected[to * page + k] = 10'000 * (r.left + 1) + way + static_cast<int>(i * page + k);
    }
    const pgas::copy_list list =
        way % 2 == 0
            ? pgas::copy_list(blocks.data(), pages)
            : pgas::copy_list(pgas::page_side<void, std::int32_t>{inbox.data(), page * sizeof(int), order.data()},
                              pgas::page_side<const void, std::int64_t>{outbox.data(), page * sizeof(int)},
                              page * sizeof(int), pages);
    if (way < 2) {
      pgas::put_list(r.world, list, r.right);
    } else {
      pgas::put_list(r.world, on, list, r.right);
      if (on_gpu) {
        std::fill(order.begin(), order.end(), 0);
        std::fill(blocks.begin(), blocks.end(), pgas::copy_block{});
      }
      on.synchronize();
    }
    r.world.barrier_all();
    EXPECT_EQ(r.read(inbox), expected) << way;
    r.world.barrier_all();
  }
}

TEST(Rma, lists_of_large_blocks) {
  ring r;
  constexpr std::size_t page = (std::size_t{8} << 20) / sizeof(int) + 4;
  auto inbox = r.world.allocate<int>(2 * page);
  auto outbox = r.world.allocate<int>(2 * page);
  const std::vector<std::int32_t> order{1, 0};
  const std::vector<pgas::copy_block> blocks{{inbox.data() + page, outbox.data(), page * sizeof(int)},
                                             {inbox.data(), outbox.data() + page, page * sizeof(int)}};
  using to_side = pgas::page_side<void, std::int32_t>;
  using from_side = pgas::page_side<const void, std::int32_t>;
  const pgas::copy_list swapped(to_side{inbox.data(), page * sizeof(int), order.data()},
                                from_side{outbox.data(), page * sizeof(int)}, page * sizeof(int), 2);
  const pgas::copy_list straight(to_side{inbox.data(), page * sizeof(int)},
                                 from_side{outbox.data(), page * sizeof(int)}, page * sizeof(int), 2);
  pgas::stream on(r.world);
  const std::vector<int> mine = numbers(2 * page, r.me);
  pgas::put(r.world, outbox.data(), mine.data(), mine.size(), r.me);
  const auto check = [&](bool halves_are_swapped, int pe) {
    std::vector<int> expected = numbers(2 * page, pe);
    if (halves_are_swapped)
      std::rotate(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(page), expected.end());
    EXPECT_TRUE(r.read(inbox) == expected);
    r.world.barrier_all();
  };
  for (const pgas::copy_list& list : {swapped, straight, pgas::copy_list(blocks.data(), 2)}) {
    const bool is_swapped = list.to_pages().index != nullptr || !list.has_pages();
    r.fill(inbox, -1);
    pgas::put_list(r.world, list, r.right);
    r.world.barrier_all();
    check(is_swapped, r.left);
    r.fill(inbox, -1);
    pgas::get_list(r.world, on, list, r.right);
    on.synchronize();
    check(is_swapped, r.right);
  }
}

TEST(Rma, lists_are_copied_without_a_world_in_mapped_memory) {
  ring r;
  const auto place =
      r.world.heap() == pgas::heap_kind::cuda ? pgas::memory_place::gpu(r.world.device()) : pgas::memory_place::host();
  constexpr std::size_t pages = 40;
  constexpr std::size_t page = 33;
  auto to = r.world.allocate<int>(pages * page);
  auto from = r.world.allocate<int>(pages * page);
  std::vector<std::int64_t> order(pages);
  std::vector<pgas::copy_block> blocks;
  const std::vector<int> mine = numbers(pages * page, r.me);
  std::vector<int> expected(pages * page);
  pgas::put(r.world, from.data(), mine.data(), mine.size(), r.me);
  for (std::size_t i = 0; i < pages; ++i) {
    const std::size_t at = (i * 11 + 5) % pages;
    order[i] = static_cast<std::int64_t>(at);
    blocks.push_back({to.data() + at * page, from.data() + i * page, page * sizeof(int)});
    std::copy_n(mine.begin() + static_cast<std::ptrdiff_t>(i * page), page,
                expected.begin() + static_cast<std::ptrdiff_t>(at * page));
  }
  const pgas::copy_list by_index(pgas::page_side<void, std::int64_t>{to.data(), page * sizeof(int), order.data()},
                                 pgas::page_side<const void, std::int32_t>{from.data(), page * sizeof(int)},
                                 page * sizeof(int), pages);
  pgas::stream on(r.world);
  for (const pgas::copy_list& list : {by_index, pgas::copy_list(blocks.data(), pages)}) {
    r.fill(to, -1);
    pgas::copy_blocks(place, on.native(), list);
    on.synchronize();
    EXPECT_EQ(r.read(to), expected);
    r.fill(to, -1);
    if (place == pgas::memory_place::host()) {
      pgas::copy_blocks(place, nullptr, list, 1);
      EXPECT_EQ(r.read(to), expected);
    }
    r.world.barrier_all();
  }
  pgas::copy_blocks(place, on.native(), {});
  EXPECT_EQ(code_of([&] { pgas::copy_blocks(place, on.native(), {nullptr, 1}); }), code::invalid_argument);
  EXPECT_EQ(code_of([&] {
              pgas::copy_blocks(pgas::memory_place::gpu(99), nullptr, {blocks.data(), 1});
            }),
            code::device_unavailable);
}

TEST(Rma, a_signal_on_the_stream_follows_a_list) {
  ring r;
  constexpr std::size_t pages = 97;
  constexpr std::size_t page = 300;
  auto inbox = r.world.allocate<int>(pages * page);
  auto outbox = r.world.allocate<int>(pages * page);
  auto signal = r.world.allocate<pgas::signal_t>(1, pgas::initialize::zero);
  auto order = r.world.allocate<std::int64_t>(pages);
  const pgas::copy_list list(pgas::page_side<void, std::int64_t>{inbox.data(), page * sizeof(int), order.data()},
                             pgas::page_side<const void, std::int32_t>{outbox.data(), page * sizeof(int)},
                             page * sizeof(int), pages);
  pgas::stream on(r.world);
  for (std::size_t round = 1; round <= 10; ++round) {
    std::vector<std::int64_t> shuffled(pages);
    for (std::size_t i = 0; i < pages; ++i) shuffled[i] = static_cast<std::int64_t>(i * (round + 1) % pages);
    pgas::put(r.world, order.data(), shuffled.data(), pages, r.me);
    r.fill(outbox, static_cast<int>(1000 * round) + r.me);
    pgas::put_list(r.world, on, list, r.right);  // the stream reads the indices when it runs
    pgas::signal_set(r.world, on, signal.data(), round, r.right);
    pgas::signal_wait_until(r.world, on, signal.data(), cmp::ge, round);
    on.synchronize();
    EXPECT_EQ(r.read(inbox), std::vector<int>(pages * page, static_cast<int>(1000 * round) + r.left));
    r.world.barrier_all();
  }
}

TEST(Rma, strided_copies_touch_what_they_say) {
  ring r;
  auto memory = r.world.allocate<int>(100);
  const std::vector<int> mine = numbers(100, 1000 * (r.me + 1));
  for (const bool later : {false, true}) {
    r.fill(memory, -1);
    if (later) {
      pgas::iput_nbi(r.world, memory.data(), mine.data(), 3, 2, 10, r.right);
      pgas::ibput_nbi(r.world, memory.data() + 40, mine.data() + 50, 8, 5, 4, 3, r.right);
      pgas::iput_nbi(r.world, memory.data() + 99, mine.data(), -2, 1, 5, r.right);
      pgas::fence(r.world);
      pgas::quiet(r.world);
    } else {
      pgas::iput(r.world, memory.data(), mine.data(), 3, 2, 10, r.right);
      pgas::ibput(r.world, memory.data() + 40, mine.data() + 50, 8, 5, 4, 3, r.right);
      pgas::iput(r.world, memory.data() + 99, mine.data(), -2, 1, 5, r.right);
    }
    r.world.barrier_all();
    const int base = 1000 * (r.left + 1);
    std::vector<int> expected(100, -1);
    for (std::size_t i = 0; i < 10; ++i) expected[3 * i] = base + static_cast<int>(2 * i);
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t i = 0; i < 4; ++i) expected[40 + 8 * b + i] = base + static_cast<int>(50 + 5 * b + i);
    for (std::size_t i = 0; i < 5; ++i) expected[99 - 2 * i] = base + static_cast<int>(i);
    EXPECT_EQ(r.read(memory), expected);

    std::vector<int> got(100, -1);
    if (later) {
      pgas::iget_nbi(r.world, got.data(), memory.data(), 2, 3, 10, r.right);
      pgas::ibget_nbi(r.world, got.data() + 50, memory.data() + 40, 5, 8, 4, 3, r.right);
      pgas::quiet(r.world);
    } else {
      pgas::iget(r.world, got.data(), memory.data(), 2, 3, 10, r.right);
      pgas::ibget(r.world, got.data() + 50, memory.data() + 40, 5, 8, 4, 3, r.right);
    }
    std::vector<int> back(100, -1);
    for (std::size_t i = 0; i < 10; ++i) back[2 * i] = mine[2 * i];
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t i = 0; i < 4; ++i) back[50 + 5 * b + i] = mine[50 + 5 * b + i];
    EXPECT_EQ(got, back);
    r.world.barrier_all();
  }
}

TEST(Rma, what_is_enqueued_is_complete_after_quiet) {
  ring r;
  constexpr std::size_t n = 50'000;
  auto memory = r.world.allocate<int>(n, pgas::initialize::zero);
  auto counter = r.world.allocate<std::int64_t>(1, pgas::initialize::zero);
  auto signal = r.world.allocate<pgas::signal_t>(1, pgas::initialize::zero);
  const std::vector<int> mine = numbers(n, r.me);
  std::vector<int> got(n, -1);
  pgas::put_signal_nbi(r.world, memory.data(), mine.data(), n, signal.data(), 9, signal_op::set, r.right);
  pgas::signal_wait_until(r.world, signal.data(), cmp::eq, 9);
  pgas::get_nbi(r.world, got.data(), memory.data(), n, r.me);
  std::vector<std::int64_t> before(1300, -1);  // more results than can be pending at the same time
  for (std::int64_t& value : before)
    pgas::atomic_fetch_add_nbi(r.world, &value, counter.data(), std::int64_t{1} << 33, r.right);
  pgas::quiet(r.world);
  EXPECT_EQ(got, numbers(n, r.left));
  for (std::size_t i = 0; i < before.size(); ++i) ASSERT_EQ(before[i], static_cast<std::int64_t>(i) << 33);
  std::int64_t seen = -1;
  pgas::atomic_swap_nbi(r.world, &seen, counter.data(), std::int64_t{5}, r.right);
  r.world.barrier_all();
  EXPECT_EQ(seen, std::int64_t{1300} << 33) << "barrier_all completes too";
  pgas::put_nbi(r.world, memory.data(), mine.data(), n, r.me);
  pgas::quiet(r.world);
  EXPECT_EQ(r.read(memory), mine);
  r.world.barrier_all();
}

TEST(Atomics, smallest_largest_and_sixteen_bits) {
  ring r;
  const int n = r.world.n_pes();
  auto ints = r.world.allocate<std::int64_t>(2, pgas::initialize::zero);
  auto reals = r.world.allocate<double>(2, pgas::initialize::zero);
  auto halves = r.world.allocate<pgas::float16>(2, pgas::initialize::zero);
  auto pairs = r.world.allocate<pgas::bfloat16_pair>(1, pgas::initialize::zero);
  const std::int64_t mine = (std::int64_t{1} << 40) + r.me;
  pgas::atomic_max(r.world, ints.data(), mine, 0);
  pgas::atomic_min(r.world, ints.data() + 1, -mine, 0);
  pgas::atomic_max(r.world, reals.data(), 0.5 + r.me, 0);
  pgas::atomic_fetch_min(r.world, reals.data() + 1, -0.5 - r.me, 0);
  pgas::atomic_add(r.world, halves.data() + 1, pgas::float16(1.5f), 0);
  pgas::atomic_add(r.world, pairs.data(), pgas::bfloat16_pair{pgas::bfloat16(1.f), pgas::bfloat16(2.f)}, 0);
  r.world.barrier_all();
  EXPECT_EQ(pgas::atomic_fetch(r.world, ints.data(), 0), (std::int64_t{1} << 40) + n - 1);
  EXPECT_EQ(pgas::atomic_fetch(r.world, ints.data() + 1, 0), -(std::int64_t{1} << 40) - n + 1);
  EXPECT_EQ(pgas::atomic_fetch(r.world, reals.data(), 0), n - 0.5);
  EXPECT_EQ(pgas::atomic_fetch(r.world, reals.data() + 1, 0), 0.5 - n);
  EXPECT_EQ(float(pgas::atomic_fetch(r.world, halves.data() + 1, 0)), 1.5f * static_cast<float>(n));
  EXPECT_EQ(float(pgas::atomic_fetch(r.world, halves.data(), 0)), 0.f) << "the neighbour";
  const pgas::bfloat16_pair pair = pgas::atomic_fetch(r.world, pairs.data(), 0);
  EXPECT_EQ(float(pair.x), static_cast<float>(n));
  EXPECT_EQ(float(pair.y), 2.f * static_cast<float>(n));
  r.world.barrier_all();
}

template <class T>
class Words : public testing::Test {};
using word_types =
    testing::Types<std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(Words, word_types);

TYPED_TEST(Words, are_waited_for_and_tested_one_by_one_and_in_sets) {
  using T = TypeParam;
  ring r;
  constexpr std::size_t n = 6;
  auto words = r.world.allocate<T>(n, pgas::initialize::zero);
  const T high = std::numeric_limits<T>::max();
  const T low = std::numeric_limits<T>::min();
  const std::vector<int> status{0, 1, 0, 0, 1, 0};  // words 1 and 4 are left out
  std::vector<std::size_t> which(n, 99);
  EXPECT_FALSE(pgas::test_all(r.world, words.data(), n, status.data(), cmp::eq, high));
  EXPECT_EQ(pgas::test_any(r.world, words.data(), n, status.data(), cmp::ne, 0),
            std::numeric_limits<std::size_t>::max());
  r.world.barrier_all();
  pgas::p(r.world, words.data() + 2, high, r.right);
  EXPECT_EQ(pgas::wait_until(r.world, words.data() + 2, cmp::gt, T{5}), high);
  EXPECT_EQ(pgas::wait_until_any(r.world, words.data(), n, status.data(), cmp::ne, 0), 2u);
  EXPECT_EQ(pgas::wait_until_some(r.world, words.data(), n, which.data(), status.data(), cmp::gt, T{0}), 1u);
  EXPECT_EQ(which[0], 2u);
  r.world.barrier_all();
  for (const std::size_t i : {0u, 3u, 5u}) pgas::p(r.world, words.data() + i, i == 3 ? low : high, r.right);
  const std::vector<T> values{high, 1, high, low, 1, high};
  pgas::wait_until_all(r.world, words.data(), n, status.data(), cmp::eq, values.data());
  EXPECT_TRUE(pgas::test_all(r.world, words.data(), n, status.data(), cmp::eq, values.data()));
  EXPECT_FALSE(pgas::test_all(r.world, words.data(), n, nullptr, cmp::eq, values.data()));
  EXPECT_EQ(pgas::test_some(r.world, words.data(), n, which.data(), nullptr, cmp::eq, values.data()), 4u);
  EXPECT_EQ((std::vector<std::size_t>(which.begin(), which.begin() + 4)), (std::vector<std::size_t>{0, 2, 3, 5}));
  std::set<std::size_t> seen;
  for (int calls = 0; calls < 200; ++calls) {
    seen.insert(pgas::test_any(r.world, words.data(), n, nullptr, cmp::eq, values.data()));
    seen.insert(10 + pgas::wait_until_any(r.world, words.data(), n, status.data(), cmp::ge, low));
  }
  EXPECT_EQ(seen, (std::set<std::size_t>{0, 2, 3, 5, 10, 12, 13, 15})) << "each in the end";
  if constexpr (std::is_signed_v<T>) {
    EXPECT_TRUE(pgas::test(r.world, words.data() + 3, cmp::lt, T{0}));
  } else {
    EXPECT_FALSE(pgas::test(r.world, words.data() + 3, cmp::lt, T{0}));
  }
  pgas::wait_until_all(r.world, words.data(), 0, nullptr, cmp::eq, T{1});  // a wait for zero words
  EXPECT_EQ(pgas::wait_until_some(r.world, words.data(), 0, nullptr, nullptr, cmp::eq, T{1}), 0u);
  const std::vector<int> none(n, 1);
  EXPECT_EQ(pgas::wait_until_any(r.world, words.data(), n, none.data(), cmp::eq, T{1}),
            std::numeric_limits<std::size_t>::max());

  // the same on a stream
  pgas::stream on(r.world);
  r.world.barrier_all();
  pgas::wait_until(r.world, on, words.data() + 1, cmp::eq, T{7});
  pgas::wait_until_all(r.world, on, words.data(), n, nullptr, cmp::ne, T{0});
  pgas::p(r.world, on, words.data(), T{1}, r.me);
  pgas::p(r.world, words.data() + 3, T{9}, r.right);
  pgas::p(r.world, words.data() + 1, T{7}, r.right);
  pgas::p(r.world, words.data() + 4, T{8}, r.right);
  on.synchronize();
  EXPECT_EQ(pgas::g(r.world, words.data(), r.me), T{1});
  r.world.barrier_all();
}

TEST(Streams, carry_out_everything_in_order) {
  ring r;
  pgas::stream on(r.world);
  constexpr std::size_t n = 1000;
  auto inbox = r.world.allocate<int>(n, pgas::initialize::zero);
  auto outbox = r.world.allocate<int>(n, pgas::initialize::zero);
  auto words = r.world.allocate<std::uint64_t>(8, pgas::initialize::zero);
  auto fetched = r.world.allocate<std::uint64_t>(8, pgas::initialize::zero);
  auto values = r.world.allocate<std::uint64_t>(2, pgas::initialize::zero);
  auto signal = r.world.allocate<pgas::signal_t>(2, pgas::initialize::zero);
  const std::vector<int> mine = numbers(n, 10'000 * (r.me + 1));
  for (std::uint64_t round = 1; round <= 20; ++round) {
    std::vector<int> seen(n, -1);
    pgas::put(r.world, on, outbox.data(), mine.data(), n, r.me);
    pgas::put_signal(r.world, on, inbox.data(), outbox.data(), n, signal.data(), 1, signal_op::add, r.right);
    pgas::signal_wait_until(r.world, on, signal.data(), cmp::eq, round);
    pgas::get(r.world, on, seen.data(), inbox.data(), n, r.me);
    pgas::sync_all(r.world, on);
    pgas::iput(r.world, on, inbox.data(), outbox.data() + 1, 2, 3, 100, r.right);
    pgas::ibput(r.world, on, inbox.data() + 500, outbox.data(), 10, 20, 4, 5, r.right);
    pgas::fence(r.world, on);
    pgas::signal_set(r.world, on, signal.data() + 1, round, r.right);
    pgas::signal_wait_until(r.world, on, signal.data() + 1, cmp::ge, round);
    pgas::iget(r.world, on, outbox.data() + 700, inbox.data(), 1, 2, 100, r.me);
    pgas::ibget(r.world, on, outbox.data() + 800, inbox.data() + 500, 4, 10, 4, 5, r.me);
    pgas::p(r.world, on, values.data(), round, r.right);
    pgas::p(r.world, on, values.data() + 1, std::uint64_t{0}, r.right);
    pgas::atomic_add(r.world, on, words.data(), std::uint64_t{1} << 40, r.right);
    pgas::atomic_fetch_inc(r.world, on, fetched.data(), words.data() + 1, r.right);
    pgas::atomic_max(r.world, on, words.data() + 2, round, r.right);
    pgas::atomic_swap(r.world, on, fetched.data() + 1, words.data() + 3, round, r.right);
    pgas::atomic_compare_swap(r.world, on, fetched.data() + 2, words.data() + 4, round - 1, round, r.right);
    pgas::atomic_fetch(r.world, on, fetched.data() + 3, words.data() + 4, r.right);
    pgas::signal_add(r.world, on, words.data() + 5, 1, r.right);
    pgas::wait_until_all(r.world, on, words.data() + 5, 1, nullptr, cmp::ge, round);
    pgas::quiet(r.world, on);
    pgas::barrier_all(r.world, on);
    pgas::wait_until_all(r.world, on, words.data() + 5, 2, nullptr, cmp::eq, values.data());
    pgas::g(r.world, on, fetched.data() + 4, words.data(), r.right);
    pgas::barrier_all(r.world, on);
    on.synchronize();
    EXPECT_EQ(seen, numbers(n, 10'000 * (r.left + 1)));
    const std::vector<int> out = r.read(outbox);
    const int base = 10'000 * (r.left + 1);
    for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(out[700 + i], base + static_cast<int>(1 + 3 * i)) << i;
    for (std::size_t i = 0; i < 20; ++i) ASSERT_EQ(out[800 + i], base + static_cast<int>(i / 4 * 20 + i % 4)) << i;
    EXPECT_EQ(r.read(fetched),
              (std::vector<std::uint64_t>{round - 1, round - 1, round - 1, round, round << 40, 0, 0, 0}));
    EXPECT_EQ(pgas::g(r.world, words.data() + 2, r.me), round);
    r.world.barrier_all();
  }
}

TEST(Streams, a_wait_that_nobody_ends_is_bounded) {
  pgas::config impatient = pgas::config::from_environment();
  // The limit also applies to joining, which takes longer if packets are lost: TCP repeats lost packets after 200 ms.
  impatient.wait_timeout = std::chrono::seconds(1);
  pgas::world world = pgas::world::join(impatient);
  auto word = world.allocate<std::int32_t>(1, pgas::initialize::zero);
  {
    pgas::stream on(world);
    pgas::wait_until(world, on, word.data(), cmp::eq, 1);
    EXPECT_EQ(code_of([&] { on.synchronize(); }), code::wait_timeout);
  }
  EXPECT_EQ(code_of([&] { pgas::wait_until_all(world, word.data(), 1, nullptr, cmp::eq, 1); }), code::wait_timeout);
}

/// Counts the blocks that ran.
struct count_blocks {
  template <class Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, std::uint32_t* counter) const {
    if (block.thread_rank() == 0) pgas::atomic_inc(ctx, counter, ctx.my_pe());
  }
};

/// All threads of all blocks synchronize. Then the first thread signals the right neighbour, and all threads wait for
/// the signal of the left neighbour.
struct meet_and_signal {
  template <class Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, std::uint32_t* counter, std::uint64_t* signal) const {
    const auto all = pgas::this_grid(block);
    for (std::uint32_t i = 1; i <= 10; ++i) {
      if (block.thread_rank() == 0) pgas::atomic_inc(ctx, counter, ctx.my_pe());
      all.sync();
      const bool complete =
          pgas::atomic_fetch(ctx, counter, ctx.my_pe()) == i * static_cast<std::uint32_t>(block.num_blocks());
      pgas::barrier(ctx, all);
      if (all.thread_rank() == 0 && complete) pgas::signal_add(ctx, signal, 1, (ctx.my_pe() + 1) % ctx.n_pes());
      pgas::wait_until(ctx, all, signal, cmp::ge, std::uint64_t{i});
    }
  }
};

TEST(Launch, says_how_many_blocks_fit_and_refuses_more) {
  ring r;
  auto counter = r.world.allocate<std::uint32_t>(1, pgas::initialize::zero);
  auto signal = r.world.allocate<std::uint64_t>(1, pgas::initialize::zero);
  const pgas::context ctx = r.world.context();
  const unsigned most = pgas::max_resident_blocks(r.world, 256, 0, count_blocks{}, ctx, counter.data());
  ASSERT_GT(most, 0u);
  const auto launch = [&](unsigned blocks, bool resident) {
    pgas::launch(r.world, {.blocks = blocks, .threads = 256, .resident = resident}, count_blocks{}, ctx,
                 counter.data());
  };
  EXPECT_EQ(code_of([&] { launch(most + 1, true); }), code::launch_failed);
  EXPECT_EQ(code_of([&] { pgas::launch(r.world, {.blocks = 0}, count_blocks{}, ctx, counter.data()); }),
            code::launch_failed);
  EXPECT_EQ(code_of([&] {
              static_cast<void>(pgas::max_resident_blocks(r.world, 0, 0, count_blocks{}, ctx, counter.data()));
            }),
            code::launch_failed);
  launch(most + 3, false);
  r.world.synchronize();
  EXPECT_EQ(pgas::g(r.world, counter.data(), r.me), most + 3);
  pgas::p(r.world, counter.data(), 0, r.me);
  r.world.barrier_all();
  pgas::launch(r.world, {.blocks = 5, .threads = 64}, meet_and_signal{}, ctx, counter.data(), signal.data());
  r.world.synchronize();
  EXPECT_EQ(pgas::g(r.world, signal.data(), r.me), 10u);
  r.world.barrier_all();
}

}  // namespace
