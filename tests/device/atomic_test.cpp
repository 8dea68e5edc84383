// Atomic operations: the effect of each operation on its word, for both signs and above 32 bits. No update is lost when
// all threads of all PEs use one word at the same time.
#include "harness.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// One thread of PE 0 executes all operations on the last PE's word.
template <class T>
struct each_operation {
  sym<T> word;
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0 || block.thread_rank() != 0) return;
    const std::int32_t pe = ctx.n_pes() - 1;
    T* const w = word.at(ctx);
    const T big = sizeof(T) == 8 ? static_cast<T>(T{1} << (sizeof(T) * 8 - 20)) : T{1'000'000};  // above 32 bits
    const T minus = static_cast<T>(T{0} - T{7});

    atomic_set(ctx, w, minus, pe);
    found.check(ctx, 1, atomic_fetch(ctx, w, pe) == minus);
    atomic_add(ctx, w, 7, pe);
    found.check(ctx, 2, atomic_fetch(ctx, w, pe) == 0);
    atomic_add(ctx, w, big, pe);
    atomic_inc(ctx, w, pe);
    found.check(ctx, 3, atomic_fetch(ctx, w, pe) == big + 1);
    found.check(ctx, 4, atomic_fetch_add(ctx, w, minus, pe) == big + 1);
    found.check(ctx, 5, atomic_fetch_inc(ctx, w, pe) == static_cast<T>(big + 1 + minus));
    found.check(ctx, 6, atomic_swap(ctx, w, minus, pe) == static_cast<T>(big + 2 + minus));
    found.check(ctx, 7, atomic_compare_swap(ctx, w, 7, 5, pe) == minus);  // the word does not have the expected value 7
    found.check(ctx, 8, atomic_compare_swap(ctx, w, minus, static_cast<T>(big | 5), pe) == minus);
    found.check(ctx, 9, atomic_fetch(ctx, w, pe) == static_cast<T>(big | 5));
    atomic_and(ctx, w, static_cast<T>(big | 1), pe);
    found.check(ctx, 10, atomic_fetch(ctx, w, pe) == static_cast<T>(big | 1));
    atomic_or(ctx, w, 6, pe);
    found.check(ctx, 11, atomic_fetch(ctx, w, pe) == static_cast<T>(big | 7));
    atomic_xor(ctx, w, static_cast<T>(big | 2), pe);
    found.check(ctx, 12, atomic_fetch(ctx, w, pe) == 5);
    found.check(ctx, 13, atomic_fetch_or(ctx, w, static_cast<T>(big | 8), pe) == 5);
    found.check(ctx, 14, atomic_fetch_and(ctx, w, static_cast<T>(big | 9), pe) == static_cast<T>(big | 13));
    found.check(ctx, 15, atomic_fetch_xor(ctx, w, static_cast<T>(~T{0}), pe) == static_cast<T>(big | 9));
    found.check(ctx, 16, atomic_fetch(ctx, w, pe) == static_cast<T>(~(big | 9)));
    atomic_set(ctx, w, static_cast<T>(~T{0}), pe);
    found.check(ctx, 17, atomic_fetch_inc(ctx, w, pe) == static_cast<T>(~T{0}));  // wraps around
    found.check(ctx, 18, atomic_fetch(ctx, w, pe) == 0);
  }
};

template <class T>
void operations_on() {
  for (int n : {1, 2, 4}) {
    pe_set pes(n);
    const auto words = pes.allocate<T>(3);
    const findings found = make_findings(pes);
    const T poison[3] = {77, 0, 88};
    pes.write(n - 1, words, poison, 3);
    pes.run({1, 1}, each_operation<T>{words + 1, found});
    expect_nothing_found(pes, found);
    T after[3];
    pes.read(n - 1, words, after, 3);
    EXPECT_EQ(after[0], T{77});  // the neighbouring words are unchanged
    EXPECT_EQ(after[2], T{88});
  }
}

TEST(atomic, operations_on_int32) { operations_on<std::int32_t>(); }
TEST(atomic, operations_on_uint32) { operations_on<std::uint32_t>(); }
TEST(atomic, operations_on_int64) { operations_on<std::int64_t>(); }
TEST(atomic, operations_on_uint64) { operations_on<std::uint64_t>(); }

template <class T>
struct each_float_operation {
  sym<T> word;
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0 || block.thread_rank() != 0) return;
    const std::int32_t pe = ctx.n_pes() - 1;
    T* const w = word.at(ctx);
    atomic_set(ctx, w, -1.5, pe);
    found.check(ctx, 1, atomic_fetch(ctx, w, pe) == static_cast<T>(-1.5));
    atomic_add(ctx, w, 4, pe);
    found.check(ctx, 2, atomic_fetch_add(ctx, w, 0.25, pe) == static_cast<T>(2.5));
    found.check(ctx, 3, atomic_swap(ctx, w, static_cast<T>(1e30), pe) == static_cast<T>(2.75));
    found.check(ctx, 4, atomic_fetch(ctx, w, pe) == static_cast<T>(1e30));
  }
};

TEST(atomic, operations_on_float_and_double) {
  pe_set pes(2);
  const auto single = pes.allocate<float>(1);
  const auto twice = pes.allocate<double>(1);
  const findings found = make_findings(pes);
  pes.run({1, 1}, each_float_operation<float>{single, found});
  pes.run({1, 1}, each_float_operation<double>{twice, found});
  expect_nothing_found(pes, found);
}

/// All threads of all PEs update the words of the last PE.
struct contention {
  sym<std::uint64_t> adds;  // word 0 is updated without results, word 1 with results
  sym<std::int32_t> narrow;
  sym<double> sums;  // two
  sym<float> single;
  sym<std::uint64_t> tickets;  // a counter, followed by one cell for each ticket
  sym<std::uint64_t> swaps;    // the word, then the sum of the old values
  sym<std::uint64_t> flips;    // words for or, and, xor
  std::uint32_t n_rounds;

  static constexpr std::uint64_t step = (std::uint64_t{1} << 33) + 1;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    const std::int32_t pe = ctx.n_pes() - 1;
    const std::uint32_t me = static_cast<std::uint32_t>(ctx.my_pe()) * global_size(block) + global_rank(block);
    for (std::uint32_t i = 0; i < n_rounds; ++i) {
      atomic_add(ctx, adds.at(ctx), step, pe);
      static_cast<void>(atomic_fetch_add(ctx, adds.at(ctx) + 1, step, pe));
      atomic_add(ctx, narrow.at(ctx), i % 2 == 0 ? -3 : 2, pe);
      atomic_add(ctx, sums.at(ctx), 0.5, pe);
      static_cast<void>(atomic_fetch_add(ctx, sums.at(ctx) + 1, 0.25, pe));
      atomic_add(ctx, single.at(ctx), 1, pe);
      const std::uint64_t ticket = atomic_fetch_inc(ctx, tickets.at(ctx), pe);
      atomic_inc(ctx, tickets.at(ctx) + 1 + ticket, pe);
      const std::uint64_t out = atomic_swap(ctx, swaps.at(ctx), me + 1, pe);
      atomic_add(ctx, swaps.at(ctx) + 1, out, pe);
      atomic_or(ctx, flips.at(ctx), std::uint64_t{1} << (me % 64), pe);
      atomic_and(ctx, flips.at(ctx) + 1, ~(std::uint64_t{1} << (me % 64)), pe);
      atomic_xor(ctx, flips.at(ctx) + 2, std::uint64_t{1} << (me % 64), pe);
      static_cast<void>(atomic_fetch_xor(ctx, flips.at(ctx) + 2, std::uint64_t{3} << 40, pe));
    }
  }
};

TEST(atomic, nothing_is_lost) {
  for (int n : {1, 2, 4}) {
    for (const grid_shape& shape : grids()) {
      const std::uint64_t threads = static_cast<std::uint64_t>(n) * shape.blocks * shape.threads;
      const std::uint64_t each = threads > 100 ? 20 : static_cast<std::uint64_t>(rounds(2000));
      const std::uint64_t total = threads * each;
      pe_set pes(n);
      const contention body{
          pes.allocate<std::uint64_t>(2), pes.allocate<std::int32_t>(1),          pes.allocate<double>(2),
          pes.allocate<float>(1),         pes.allocate<std::uint64_t>(total + 1), pes.allocate<std::uint64_t>(2),
          pes.allocate<std::uint64_t>(3), static_cast<std::uint32_t>(each)};
      const std::uint64_t ones = ~std::uint64_t{0};
      pes.write(n - 1, body.flips + 1, &ones, 1);
      pes.run(shape, body);

      std::uint64_t adds[2];
      pes.read(n - 1, body.adds, adds, 2);
      EXPECT_EQ(adds[0], total * contention::step);
      EXPECT_EQ(adds[1], total * contention::step);
      std::int32_t narrow = 0;
      pes.read(n - 1, body.narrow, &narrow, 1);
      EXPECT_EQ(narrow, -static_cast<std::int32_t>(threads * (each / 2 + each % 2 * 3)));
      double sums[2];
      pes.read(n - 1, body.sums, sums, 2);
      EXPECT_EQ(sums[0], static_cast<double>(total) / 2);
      EXPECT_EQ(sums[1], static_cast<double>(total) / 4);
      float single = 0;
      pes.read(n - 1, body.single, &single, 1);
      EXPECT_EQ(single, static_cast<float>(total));
      std::vector<std::uint64_t> tickets(total + 1);
      pes.read(n - 1, body.tickets, tickets.data(), tickets.size());
      EXPECT_EQ(tickets[0], total);
      for (std::uint64_t i = 1; i <= total; ++i) ASSERT_EQ(tickets[i], 1u) << "ticket " << i - 1;
      std::uint64_t swaps[2];
      pes.read(n - 1, body.swaps, swaps, 2);
      EXPECT_EQ(swaps[0] + swaps[1], threads * (threads + 1) / 2 * each);
      std::uint64_t flips[3];
      pes.read(n - 1, body.flips, flips, 3);
      const std::uint64_t mine = threads >= 64 ? ones : (std::uint64_t{1} << threads) - 1;
      EXPECT_EQ(flips[0], mine);
      EXPECT_EQ(flips[1], ~mine);
      std::uint64_t flipped = 0;
      for (std::uint64_t i = 0; i < threads * (each % 2); ++i) flipped ^= std::uint64_t{1} << (i % 64);
      if (total % 2 != 0) flipped ^= std::uint64_t{3} << 40;
      EXPECT_EQ(flips[2], flipped);
    }
  }
}

/// A spin lock made of compare-and-swap on PE 0 guards two plain words on the last PE. Only one thread of each block
/// takes part, because on GPUs the lanes of one warp must not wait for one another's spin lock.
struct lock {
  sym<std::uint32_t> mutex;
  sym<std::uint64_t> guarded;
  findings found;
  std::uint32_t n_rounds;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.thread_rank() != 0) return;
    const std::int32_t pe = ctx.n_pes() - 1;
    for (std::uint32_t i = 0; i < n_rounds; ++i) {
      while (atomic_compare_swap(ctx, mutex.at(ctx), 0, 1, 0) != 0) detail::yield_waiting();
      quiet(ctx);
      const std::uint64_t a = g(ctx, guarded.at(ctx), pe);
      const std::uint64_t b = g(ctx, guarded.at(ctx) + 1, pe);
      found.equal(ctx, i, a, b);
      p(ctx, guarded.at(ctx), a + 1, pe);
      p(ctx, guarded.at(ctx) + 1, b + 1, pe);
      fence(ctx);
      atomic_set(ctx, mutex.at(ctx), 0, 0);
    }
  }
};

TEST(atomic, compare_and_swap_makes_a_lock) {
  for (int n : {2, 4}) {
    pe_set pes(n);
    const auto mutex = pes.allocate<std::uint32_t>(1);
    const auto guarded = pes.allocate<std::uint64_t>(2);
    const findings found = make_findings(pes);
    const auto each = static_cast<std::uint32_t>(rounds(2000));
    pes.run({2, 2}, lock{mutex, guarded, found, each});
    expect_nothing_found(pes, found);
    std::uint64_t after[2];
    pes.read(n - 1, guarded, after, 2);
    EXPECT_EQ(after[0], static_cast<std::uint64_t>(n) * 2 * each);
  }
}

}  // namespace
