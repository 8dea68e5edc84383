// The litmus tests of the memory model, which include/pgas/device/MEMORY_MODEL.md lists.
#include "harness.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// How PE 0 signals PE 1 that x[i] is written.
enum class sender { put_signal, fence_then_p, fence_then_add, quiet_then_set, group_fence, barrier_with_itself };

/// A team that contains only the calling PE.
PGAS_FN team_view alone(const context& ctx) {
  team_view team = ctx.world();
  team.start_ = ctx.my_pe();
  team.n_pes_ = 1;
  team.my_pe_ = 0;
  return team;
}

/// The rank of the thread that signals after a fence or a barrier of its group. The rank is not 0. On a GPU the thread
/// belongs to the first warp.
PGAS_FN std::uint32_t signaller(std::uint32_t size) {
#if defined(__CUDACC__)
  return size / 2 % 32;
#else
  return size - 1;
#endif
}

/// MP: a PE that sees the flag sees the data. Each message has separate words, so no word has to be reset.
struct message_passing {
  sym<std::uint32_t> data;
  sym<std::uint64_t> flag;
  findings found;
  std::uint32_t n;
  sender way;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.block_rank() != 0) return;
    const auto rank = static_cast<std::uint32_t>(block.thread_rank());
    const auto size = static_cast<std::uint32_t>(block.size());
    std::uint64_t* const f = flag.at(ctx);
    if (ctx.my_pe() != 0) {
      for (std::uint32_t i = 0; i < n; ++i) {
        wait_until(ctx, block, f, cmp::ge, i + 1);
        found.equal(ctx, i, i * size + rank + 1, data.at(ctx)[i * size + rank]);
      }
      return;
    }
    for (std::uint32_t i = 0; i < n; ++i) {
      std::uint32_t* const mine = data.at(ctx) + i * size;
      if (way == sender::put_signal) {
        mine[rank] = i * size + rank + 1;
        block.sync();
        put_signal(ctx, block, mine, mine, size, f, i + 1, signal_op::set, 1);
        continue;
      }
      store_plainly(ctx, mine + rank, i * size + rank + 1, 1);  // every thread stores
      if (way == sender::group_fence || way == sender::barrier_with_itself) {
        if (way == sender::group_fence)
          fence(ctx, block);
        else
          barrier(ctx, block, alone(ctx));
        if (rank == signaller(size)) signal_set(ctx, f, i + 1, 1);
        continue;
      }
      block.sync();
      if (rank != 0) continue;
      if (way == sender::fence_then_p) {
        fence(ctx);
        p(ctx, f, i + 1, 1);
      } else if (way == sender::fence_then_add) {
        fence(ctx);
        atomic_add(ctx, f, 1, 1);
      } else {
        quiet(ctx);
        signal_set(ctx, f, i + 1, 1);
      }
    }
  }
};

void pass_messages(const grid_shape& shape, sender way, std::uint32_t n) {
  pe_set pes(2, {.heap_bytes = std::size_t{32} << 20});
  const message_passing body{pes.allocate<std::uint32_t>(std::size_t{n} * shape.threads),
                             pes.allocate<std::uint64_t>(1), make_findings(pes), n, way};
  pes.run(shape, body);
  expect_nothing_found(pes, body.found);
}

TEST(litmus, message_passing) {
  for (const grid_shape& shape : grids()) {
    for (const sender way : {sender::put_signal, sender::fence_then_p, sender::fence_then_add, sender::quiet_then_set,
                             sender::group_fence, sender::barrier_with_itself})
      pass_messages(shape, way, static_cast<std::uint32_t>(rounds(5000)));
  }
}

#if !defined(__CUDACC__)
/// The block has more threads than a warp. On a CPU, each thread executes the fence of its group.
TEST(litmus, message_passing_by_thread_32) {
  for (const sender way : {sender::group_fence, sender::barrier_with_itself}) pass_messages({1, 33}, way, 10);
}
#endif

/// Waits for a short time that changes from round to round, so that the PEs' accesses have every distance in time.
PGAS_FN void stagger(const context& ctx, const std::uint32_t* word, std::uint32_t round) {
  for (std::uint32_t i = mix(round, static_cast<std::uint32_t>(ctx.my_pe())) % 256; i > 0; --i) {
    static_cast<void>(g(ctx, word, ctx.my_pe()));
  }
}

/// SB: two PEs store, call quiet, and then load what the other PE stores. At least one PE sees the store of the other
/// PE.
struct store_buffering {
  // The distance of the words of two rounds, so that they share no cache line.
  static constexpr std::uint32_t apart = 32;

  sym<std::uint32_t> stored;  // one word for each round, written by the other PE
  sym<std::uint32_t> seen;
  std::uint32_t n;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (global_rank(block) != 0) return;
    const std::int32_t other = 1 - ctx.my_pe();
    for (std::uint32_t i = 0; i < n; ++i) {
      std::uint32_t* const word = stored.at(ctx) + std::size_t{i} * apart;
      // brings both lines into the caches of both PEs
      seen.at(ctx)[i] = g(ctx, word, ctx.my_pe()) + g(ctx, word, other);
      sync(ctx);
      stagger(ctx, seen.at(ctx), i);
      p(ctx, word, 1, other);
      quiet(ctx);
      seen.at(ctx)[i] = g(ctx, word, ctx.my_pe());
    }
  }
};

TEST(litmus, store_buffering) {
  pe_set pes(2, {.heap_bytes = std::size_t{16} << 20});
  const auto n = static_cast<std::uint32_t>(no_more_than_asked(100'000));
  const store_buffering body{pes.allocate<std::uint32_t>(std::size_t{n} * store_buffering::apart),
                             pes.allocate<std::uint32_t>(n), n};
  pes.run({1, 1}, body);
  std::vector<std::uint32_t> a(n);
  std::vector<std::uint32_t> b(n);
  pes.read(0, body.seen, a.data(), n);
  pes.read(1, body.seen, b.data(), n);
  for (std::uint32_t i = 0; i < n; ++i)
    ASSERT_TRUE(a[i] == 1 || b[i] == 1) << "round " << i << ": neither saw the other";
}

/// IRIW: two writers, and two readers with a quiet between their reads. The readers agree on the order of the two
/// stores. The words are on PE 0 and PE 1, and the readers are PE 2 and PE 3.
struct independent_reads {
  sym<std::uint32_t> words;
  sym<std::uint32_t> seen;  // two values for each round
  std::uint32_t n;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (global_rank(block) != 0) return;
    const std::int32_t me = ctx.my_pe();
    for (std::uint32_t i = 0; i < n; ++i) {
      sync(ctx);
      stagger(ctx, words.at(ctx), i);
      if (me < 2) {
        p(ctx, words.at(ctx) + i, 1, me);
      } else {
        const std::int32_t first = me - 2;
        seen.at(ctx)[2 * i] = g(ctx, words.at(ctx) + i, first);
        quiet(ctx);
        seen.at(ctx)[2 * i + 1] = g(ctx, words.at(ctx) + i, 1 - first);
      }
    }
  }
};

TEST(litmus, independent_reads_of_independent_writes) {
  pe_set pes(4);
  const auto n = static_cast<std::uint32_t>(rounds(50'000));
  const independent_reads body{pes.allocate<std::uint32_t>(n), pes.allocate<std::uint32_t>(std::size_t{2} * n), n};
  pes.run({1, 1}, body);
  std::vector<std::uint32_t> a(std::size_t{2} * n);
  std::vector<std::uint32_t> b(std::size_t{2} * n);
  pes.read(2, body.seen, a.data(), a.size());
  pes.read(3, body.seen, b.data(), b.size());
  for (std::size_t i = 0; i < a.size(); i += 2) {
    const bool a_says_0_first = a[i] == 1 && a[i + 1] == 0;
    const bool b_says_1_first = b[i] == 1 && b[i + 1] == 0;
    ASSERT_FALSE(a_says_0_first && b_says_1_first) << "round " << i / 2;
  }
}

/// CoRR: a read of a word by g, a wait or an atomic operation never returns an older value than an earlier read.
struct coherence {
  sym<std::uint64_t> word;
  findings found;
  std::uint32_t n;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() == 0) {
      if (global_rank(block) != 0) return;
      for (std::uint32_t i = 1; i <= n; ++i) p(ctx, word.at(ctx), i, 1);
      return;
    }
    std::uint64_t last = 0;
    while (last < n) {
      const std::uint64_t a = g(ctx, word.at(ctx), 1);
      const std::uint64_t b = atomic_fetch(ctx, word.at(ctx), 1);
      const std::uint64_t c = ctx.my_pe() == 1 ? signal_fetch(ctx, word.at(ctx)) : b;
      found.check(ctx, a, last <= a && a <= b && b <= c);
      last = c;
      detail::yield_waiting();
    }
  }
};

TEST(litmus, coherence) {
  pe_set pes(3);
  const coherence body{pes.allocate<std::uint64_t>(1), make_findings(pes), static_cast<std::uint32_t>(rounds(100'000))};
  pes.run({2, 2}, body);
  expect_nothing_found(pes, body.found);
}

}  // namespace
