// PEs that are reached by different routes. Data on one route does not overtake data on another route. A thread that
// waits for a lost PE fails and leaves a failure record.

#include "harness.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// How PE 0 signals that its data has arrived.
enum class teller { put_signal, fence_then_p, fence_then_add, quiet_then_set, barrier_then_set };
constexpr teller all_tellers[] = {teller::put_signal, teller::fence_then_p, teller::fence_then_add,
                                  teller::quiet_then_set, teller::barrier_then_set};

/// PE 0 writes to `holder`, then signals `reader`. The reader reads the holder's memory and passes the signal on to the
/// holder, which then reads its own memory. PE 0 reaches the two PEs by different routes.
struct two_routes {
  sym<std::uint32_t> data;  // each round writes a new part of this memory
  sym<std::uint64_t> told;  // the signal words of the reader, then of the holder
  findings found;
  std::uint32_t n;
  std::uint32_t count;
  std::int32_t holder;
  std::int32_t reader;
  teller how;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    const std::int32_t me = ctx.my_pe();
    const auto rank = static_cast<std::uint32_t>(block.thread_rank());
    std::uint64_t* const to_reader = told.at(ctx);
    std::uint64_t* const to_holder = told.at(ctx) + 1;
    for (std::uint32_t round = 0; round < n; ++round) {
      std::uint32_t* const remote = data.at(ctx) + round * count;
      if (me == 0) {
        for (std::uint32_t i = rank; i < count; i += static_cast<std::uint32_t>(block.size()))
          remote[i] = round + i + 1;
        block.sync();
        put_nbi(ctx, block, remote, remote, count, holder);
        tell(ctx, block, to_reader, round + 1);
      } else if (me == reader) {
        wait_until(ctx, block, to_reader, cmp::ge, round + 1);
        get(ctx, block, remote, remote, count, holder);
        look(ctx, block, round, remote);
        put_signal(ctx, block, remote, remote, 0, to_holder, round + 1, signal_op::set, holder);
      } else if (me == holder) {
        wait_until(ctx, block, to_holder, cmp::ge, round + 1);
        look(ctx, block, round, remote);
      }
    }
  }

  template <class Block>
  PGAS_FN void tell(const context& ctx, const Block& block, std::uint64_t* word, std::uint64_t value) const {
    if (how == teller::put_signal) return put_signal(ctx, block, word, word, 0, word, value, signal_op::set, reader);
    if (how == teller::quiet_then_set) {
      quiet(ctx, block);
    } else if (how == teller::barrier_then_set) {
      team_view alone = ctx.world();
      alone.start_ = ctx.world_pe_;
      alone.n_pes_ = 1;
      alone.my_pe_ = 0;
      barrier(ctx, block, alone);
    } else {
      fence(ctx, block);
    }
    if (block.thread_rank() != 0) return;
    if (how == teller::fence_then_add)
      atomic_add(ctx, word, 1, reader);
    else if (how == teller::fence_then_p)
      p(ctx, word, value, reader);
    else
      signal_set(ctx, word, value, reader);
  }

  template <class Block>
  PGAS_FN void look(const context& ctx, const Block& block, std::uint32_t round, const std::uint32_t* remote) const {
    for (auto i = static_cast<std::uint32_t>(block.thread_rank()); i < count;
         i += static_cast<std::uint32_t>(block.size()))
      found.equal(ctx, std::uint64_t{round} << 32 | i, round + i + 1, remote[i]);
  }
};

void try_routes(std::int32_t holder, std::int32_t reader) {
  for (const std::uint32_t count : {2u, 300u, 9000u}) {  // sizes of data that is sent in a command, in a message, or by
                                                         // the transport itself
    for (const teller how : all_tellers) {
      for (const unsigned threads : {1u, 2u}) {
        const auto n = static_cast<std::uint32_t>(no_more_than_asked(20));
        pe_set pes(4, {.domain = 2});
        const two_routes body{pes.allocate<std::uint32_t>(std::size_t{n} * count),
                              pes.allocate<std::uint64_t>(2),
                              make_findings(pes),
                              n,
                              count,
                              holder,
                              reader,
                              how};
        pes.run({1, threads}, body);
        expect_nothing_found(pes, body.found);
      }
    }
  }
}

TEST(route, a_direct_signal_comes_after_a_proxied_put) { try_routes(2, 1); }

TEST(route, a_proxied_signal_comes_after_a_direct_put) { try_routes(1, 2); }

TEST(route, a_proxied_signal_comes_after_a_proxied_put_to_another) { try_routes(3, 2); }

struct looks_around {
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block&, const context& ctx) const {
    int word = 0;
    int* const own = reinterpret_cast<int*>(found.place.at(ctx));
    for (std::int32_t pe = 0; pe < 5; ++pe) {
      const bool near = pe / 2 == ctx.my_pe() / 2;
      found.check(ctx, 1, ctx.reaches(pe) == near);
      found.check(ctx, 2, (ctx.ptr(own, pe) != nullptr) == near);
      found.check(ctx, 3, ctx.ptr(&word, pe) == nullptr);
      found.check(ctx, 4, (ctx.domain().member(pe) >= 0) == near);
    }
    found.check(ctx, 5, ctx.domain().n_pes() == (ctx.my_pe() == 4 ? 1 : 2));
  }
};

TEST(route, which_pes_are_direct) {
  pe_set pes(5, {.domain = 2});
  const findings found = make_findings(pes);
  pes.run({1, 1}, looks_around{found});
  expect_nothing_found(pes, found);
}

/// The copies in pieces for memory that a proxy cannot access. The CPU has no such memory, so the function is called
/// directly.
struct in_pieces {
  static constexpr std::uint32_t count = 77;
  sym<std::uint16_t> remote;
  sym<std::uint16_t> here;
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0) return;
    const detail::slice me = detail::slice_of(block);
    std::uint16_t* const mine = here.at(ctx);
    for (std::uint32_t i = me.rank; i < count; i += me.size) mine[i] = static_cast<std::uint16_t>(i + 1);
    block.sync();
    const detail::proxy_queue from = detail::proxy_queue_of(ctx);
    const detail::op_info to{detail::operation::put, 1, remote.offset};
    found.check(ctx, 1, detail::put_inline(from, to, mine, count * 2, me));
    quiet(ctx, block);
    found.check(ctx, 2, detail::get_inline(from, to, mine + count, count * 2, me));
    block.sync();
    for (std::uint32_t i = me.rank; i < count; i += me.size) found.equal(ctx, i, mine[i], mine[count + i]);
    block.sync();
    // Copies blocks of 9 elements, from the last block to the first. The distance between blocks is 10 elements on this
    // PE and 12 elements on the other PE.
    const detail::strided_range shape = detail::strided_range_of<std::uint16_t>(9, 5, 10, -12);
    const detail::op_info last{detail::operation::iput, 1, remote.offset + 4 * 12 * 2};
    const detail::proxied_blocks all{from, last, reinterpret_cast<std::byte*>(mine), shape,
                                     detail::completion::submitted};
    detail::proxied_blocks sent = all;
    found.check(ctx, 3, detail::copy_strided_inline<detail::direction::put>(&sent, me));
    quiet(ctx, block);
    detail::proxied_blocks got = all;
    got.local += count * sizeof *mine;
    found.check(ctx, 4, detail::copy_strided_inline<detail::direction::get>(&got, me));
    block.sync();
    if (me.rank != 0) return;
    get(ctx, mine + 2 * count, remote.at(ctx), count, 1);
    for (std::uint32_t i = 0; i < 5 * 9; ++i) {
      const std::uint32_t at = i / 9 * 10 + i % 9;
      found.equal(ctx, 1000 + i, mine[at], mine[count + at]);
      found.equal(ctx, 2000 + i, mine[at], mine[2 * count + (4 - i / 9) * 12 + i % 9]);
    }
    for (std::uint32_t i = 9; i < count; ++i) {  // the elements between the blocks are unchanged
      if (i % 12 >= 9) found.equal(ctx, 3000 + i, static_cast<std::uint16_t>(i + 1), mine[2 * count + i]);
    }
  }
};

TEST(route, memory_out_of_the_proxys_reach_goes_in_pieces) {
  for (const unsigned threads : {1u, 3u}) {
    pe_set pes(2, {.domain = 1});
    const in_pieces body{pes.allocate<std::uint16_t>(in_pieces::count),
                         pes.allocate<std::uint16_t>(3 * in_pieces::count), make_findings(pes)};
    pes.run({1, threads}, body);
    expect_nothing_found(pes, body.found);
  }
}

/// The operation in which PE 0 waits when PE 1 is lost.
enum class hope { answer, completion };

struct reaches_for_the_lost {
  sym<std::uint64_t> word;
  hope what;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0 || block.thread_rank() != 0) return;
    for (std::uint64_t i = 0;; ++i) {
      if (what == hope::answer)
        static_cast<void>(g(ctx, word.at(ctx), 1));
      else
        p(ctx, word.at(ctx), i, 1);
      if (what == hope::completion) quiet(ctx);
    }
  }
};

TEST(route, what_waits_for_a_lost_pe_ends_with_a_record) {
  for (const hope what : {hope::answer, hope::completion}) {
    pe_set pes(2, {.domain = 1});
    const reaches_for_the_lost body{pes.allocate<std::uint64_t>(1), what};
    const std::vector<bool> gave_up = pes.run_out({1, 1}, body, [&] { pes.cut(1); });
    EXPECT_TRUE(gave_up[0]);
    const detail::failure_record& record = pes.control(0).record;
    EXPECT_EQ(record.why, detail::failure::aborted);
    EXPECT_TRUE(record.pe == 1 || record.pe == -1) << record.pe;
    if (what == hope::answer) {
      EXPECT_EQ(record.what, detail::operation::g);
      EXPECT_EQ(record.heap_offset, body.word.offset);
    }
  }
}

enum class spreading { broadcast, fcollect, reduce };

/// A collective of all PEs with `count` elements.
struct spreads {
  spreading what;
  sym<float> dst;
  sym<float> src;
  std::size_t count;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (what == spreading::broadcast) broadcast(ctx, block, ctx.world(), dst.at(ctx), src.at(ctx), count, 1);
    if (what == spreading::fcollect) {
      const std::size_t each = count / static_cast<std::size_t>(ctx.n_pes());
      fcollect(ctx, block, ctx.world(), dst.at(ctx), src.at(ctx), each);
    }
    if (what == spreading::reduce) reduce(ctx, block, ctx.world(), dst.at(ctx), src.at(ctx), count, op::sum{});
  }
};

/// The bytes that the network carries between 2 domains of 2 PEs, as a multiple of the bytes of the collective.
double crossings(spreading what) {
  constexpr std::size_t count = std::size_t{1} << 18;
  pe_set pes(4, {.heap_bytes = std::size_t{8} << 20, .domain = 2});
  const spreads body{what, pes.allocate<float>(count), pes.allocate<float>(count), count};
  const std::uint64_t before = pes.traffic().bytes;
  pes.run({1, 2}, body);
  return static_cast<double>(pes.traffic().bytes - before) / (count * sizeof(float));
}

TEST(route, data_crosses_to_a_domain_once) {
  EXPECT_NEAR(crossings(spreading::broadcast), 1.0, 0.1);
  EXPECT_NEAR(crossings(spreading::fcollect), 1.0, 0.1);
  // Each element is sent twice: a partial result in one direction, and the result back.
  EXPECT_NEAR(crossings(spreading::reduce), 2.0, 0.1);
}

struct meets {
  std::uint64_t times;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    for (std::uint64_t i = 0; i < times; ++i) sync(ctx, block);
  }
};

TEST(route, a_barrier_takes_a_message_from_each_domain_to_each_other) {
  pe_set pes(6, {.domain = 2});
  const std::uint64_t before = pes.traffic().commands;
  pes.run({1, 1}, meets{10});
  EXPECT_EQ(pes.traffic().commands - before, 10 * 3 * 2);
}

TEST(route, a_barrier_of_many_domains_takes_a_message_from_each_domain_in_each_round) {
  const int limit = detail::most_direct_domains;
  const auto messages = [](int domains, int domain) {
    pe_set pes(domains * domain, {.domain = domain});
    const std::uint64_t before = pes.traffic().commands;
    pes.run({1, 1}, meets{10});
    return pes.traffic().commands - before;
  };
  EXPECT_EQ(messages(limit, 1), static_cast<std::uint64_t>(10 * limit * (limit - 1)));
  EXPECT_EQ(messages(limit + 1, 1), static_cast<std::uint64_t>(10 * (limit + 1) * 5));
  EXPECT_EQ(messages(32, 1), std::uint64_t{10 * 32 * 5});
  EXPECT_EQ(messages(limit + 1, 2), static_cast<std::uint64_t>(10 * (limit + 1) * 5));
}

}  // namespace
