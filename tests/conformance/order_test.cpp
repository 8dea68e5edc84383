// Signals and order: put_signal with every scope, waits that return the value that they saw, counted signals, fence and
// quiet for one PE and by a group, and results of non-blocking operations.
#include "one_sided.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// The ways of signalling data to the next member.
enum class announcement { put_signal, fence, fence_pe, quiet, quiet_pe, quiet_pes, last = quiet_pes };

/// Each round sends data to the next member, and signals the data in one of several ways. The next member waits for the
/// signal in one of several ways, and then answers.
struct passing_body {
  static constexpr std::uint32_t n = 300;

  test_team team;
  sym<std::uint32_t> inbox;
  sym<std::uint32_t> outbox;
  sym<signal_t> ready;  // counts signals from the previous member
  sym<signal_t> read;   // counts answers from the next member
  findings found;
  scope by;
  std::uint32_t n_rounds;

  PGAS_FN static std::uint32_t value(std::int32_t from, std::uint32_t i, std::uint32_t round) {
    return mix(i, round, static_cast<std::uint32_t>(from));
  }

  template <class Group>
  PGAS_FN void announce(const context& ctx, const Group& g, announcement how, std::uint32_t round) const {
    const std::int32_t pe = next_member(ctx);
    if (how == announcement::put_signal) {
      const bool set = round % 2 != 0;  // one writer sets the word and adds to it
      put_signal_nbi(ctx, g, inbox.at(ctx), outbox.at(ctx), n, ready.at(ctx), set ? round + 1 : 1,
                     set ? signal_op::set : signal_op::add, pe);
      return;
    }
    put_nbi(ctx, g, inbox.at(ctx), outbox.at(ctx), n, pe);
    if (how == announcement::fence) fence(ctx, g);
    if (how == announcement::fence_pe) fence(ctx, g, pe);
    if (how == announcement::quiet) quiet(ctx, g);
    if (how == announcement::quiet_pe) quiet(ctx, g, pe);
    if (how == announcement::quiet_pes) {
      const std::int32_t pes[2] = {ctx.my_pe(), pe};
      quiet(ctx, g, pes, 2);
    }
    if (round % 2 != 0) {
      signal_add(ctx, g, ready.at(ctx), 1, pe);
    } else {
      signal_set(ctx, g, ready.at(ctx), round + 1, pe);
    }
  }

  template <class Group>
  PGAS_FN void one_round(const context& ctx, const Group& g, std::uint32_t round) const {
    const auto rank = static_cast<std::uint32_t>(g.thread_rank());
    const auto size = static_cast<std::uint32_t>(g.size());
    for (std::uint32_t i = rank; i < n; i += size) outbox.at(ctx)[i] = value(ctx.my_pe(), i, round);
    g.sync();
    announce(ctx, g, static_cast<announcement>(round % (static_cast<std::uint32_t>(announcement::last) + 1)), round);

    const signal_t seen = signal_wait_until(ctx, g, ready.at(ctx), cmp::ge, round + 1);
    found.equal(ctx, 1, signal_t{round + 1}, seen);  // the sender waits for this member's answer
    found.equal(ctx, 2, seen, signal_fetch(ctx, g, ready.at(ctx)));
    for (std::uint32_t i = rank; i < n; i += size) {
      found.equal(ctx, 100 + i, value(last_member(ctx), i, round), inbox.at(ctx)[i]);
    }
    fence(ctx, g);  // the data must be read before the sender writes again
    signal_add(ctx, g, read.at(ctx), 3, last_member(ctx));
    found.equal(ctx, 3, signal_t{0}, signal_take(ctx, g, read.at(ctx), 3));  // the word is reused in every round
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0) return;
    with_scope(by, block, [&](const auto& g) {
      PGAS_ROLLED
      for (std::uint32_t round = 0; round < n_rounds; ++round) one_round(ctx, g, round);
    });
  }
};

TEST(order, data_is_there_when_its_announcement_is) {
  for (const team_shape& shape : team_shapes()) {
    for (const grid_shape& grid : blocks()) {
      pe_set pes(shape.n_pes);
      passing_body body{make_team(pes, shape.members, shape.as_list),
                        pes.allocate<std::uint32_t>(passing_body::n),
                        pes.allocate<std::uint32_t>(passing_body::n),
                        pes.allocate<signal_t>(1),
                        pes.allocate<signal_t>(1),
                        make_findings(pes),
                        scope::thread,
                        static_cast<std::uint32_t>(rounds(600))};
      for (const scope by : all_scopes) {
        for (int pe = 0; pe < shape.n_pes; ++pe) pes.fill(pe, body.ready, 0, 1);
        body.by = by;
        pes.run(grid, body);
      }
      expect_nothing_found(pes, body.found);
    }
  }
}

/// All members add to one word of the last member, and takers subtract 3 from this word several times. Before each
/// addition, the member sends data.
struct counted_body {
  test_team team;
  sym<signal_t> count;
  sym<std::uint64_t> data;   // a counter for each member, incremented before each addition
  sym<std::uint64_t> takes;  // the number of takes
  findings found;
  std::uint32_t each;
  std::uint32_t per_taker;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0 || block.thread_rank() != 0) return;
    const std::int32_t target = ctx.n_pes() - 1;
    if (block.block_rank() == 0) {
      std::uint64_t* const mine = data.at(ctx) + ctx.my_pe();
      for (std::uint32_t i = 0; i < each; ++i) {
        const std::uint64_t next = i + 1;
        p(ctx, mine, next, target);  // a strong store, because takers read the word while it changes
        fence(ctx);
        signal_add(ctx, count.at(ctx), 1, target);
      }
    } else if (ctx.my_pe() == target) {
      for (std::uint32_t i = 0; i < per_taker; ++i) {
        const signal_t left = signal_take(ctx, count.at(ctx), 3);
        std::uint64_t arrived = 0;
        for (std::int32_t pe = 0; pe < ctx.n_pes(); ++pe) arrived += g(ctx, data.at(ctx) + pe, ctx.my_pe());
        // The number of takes is known only if there is one taker.
        found.check(ctx, i, arrived >= 3 * (i + 1) + left || block.num_blocks() > 2);
        atomic_inc(ctx, takes.at(ctx), ctx.my_pe());
      }
    }
  }
};

TEST(order, counted_signals_need_no_reset) {
  for (const team_shape& shape : team_shapes()) {
    for (const unsigned takers : {1u, 3u}) {
      const auto members = static_cast<std::uint32_t>(shape.members.size());
      const std::uint32_t each = 9 * static_cast<std::uint32_t>(rounds(300));
      pe_set pes(shape.n_pes);
      const counted_body body{make_team(pes, shape.members, shape.as_list),
                              pes.allocate<signal_t>(1),
                              pes.allocate<std::uint64_t>(8),
                              pes.allocate<std::uint64_t>(1),
                              make_findings(pes),
                              each,
                              each * members / 3 / takers};
      pes.run({1 + takers, 1}, body);
      expect_nothing_found(pes, body.found);
      signal_t left = 99;
      pes.read(shape.members.back(), body.count, &left, 1);
      EXPECT_EQ(left, 0u);
      std::uint64_t takes = 0;
      pes.read(shape.members.back(), body.takes, &takes, 1);
      EXPECT_EQ(takes, std::uint64_t{each} * members / 3);
    }
  }
}

/// After each form of quiet, the results of non-blocking operations are available, and the remote effects of these
/// operations are visible.
struct results_body {
  test_team team;
  sym<std::uint64_t> word;
  sym<std::uint64_t> copy;
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0 || block.thread_rank() != 0) return;
    const std::int32_t pe = next_member(ctx);
    for (std::uint32_t i = 0; i < 30; ++i) {
      std::uint64_t result[3] = {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}};
      std::uint64_t* const w = word.at(ctx);
      atomic_fetch_add_nbi(ctx, &result[0], w, std::uint64_t{1} << 33, pe);
      atomic_fetch_inc_nbi(ctx, &result[1], w + 1, pe);
      atomic_fetch_nbi(ctx, &result[2], w + 1, pe);
      if (i % 3 == 0) quiet(ctx);
      if (i % 3 == 1) quiet(ctx, pe);
      if (i % 3 == 2) quiet(ctx, &pe, 1);
      found.equal(ctx, i, std::uint64_t{i} << 33, result[0]);
      found.equal(ctx, i + 100, std::uint64_t{i}, result[1]);
      found.check(ctx, i + 200, result[2] == i || result[2] == i + 1);
      get_nbi(ctx, copy.at(ctx), w, 2, pe);
      quiet(ctx, pe);
      found.equal(ctx, i + 300, std::uint64_t{i + 1} << 33, copy.at(ctx)[0]);
      found.equal(ctx, i + 400, std::uint64_t{i + 1}, copy.at(ctx)[1]);
    }
  }
};

TEST(order, results_are_there_after_quiet) {
  for (const team_shape& shape : team_shapes()) {
    pe_set pes(shape.n_pes);
    const results_body body{make_team(pes, shape.members, shape.as_list), pes.allocate<std::uint64_t>(2),
                            pes.allocate<std::uint64_t>(2), make_findings(pes)};
    pes.run({1, 2}, body);
    expect_nothing_found(pes, body.found);
  }
}

/// A thread or a group waits for more arrivals than will come.
struct greedy_body {
  sym<signal_t> count;
  sym<std::uint32_t> survivors;
  scope by;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0) return;
    with_scope(by, block, [&](const auto& g) {
      signal_take(ctx, g, count.at(ctx), 2);
      signal_take(ctx, g, count.at(ctx), 2);
      atomic_inc(ctx, survivors.at(ctx), 0);
    });
  }
};

TEST(order, a_take_gives_up) {
  for (const scope by : all_scopes) {
    pe_set pes(2, {.timeout = std::chrono::milliseconds(60)});
    const greedy_body body{pes.allocate<signal_t>(1), pes.allocate<std::uint32_t>(1), by};
    const signal_t three = 3;
    pes.write(0, body.count, &three, 1);
    expect_caught(pes, body, detail::operation::wait, detail::failure::timed_out);
    EXPECT_EQ(pes.control(0).record.expected, 2u);
    EXPECT_EQ(pes.control(0).record.seen, 1u);
    EXPECT_EQ(pes.control(0).record.heap_offset, body.count.offset);
    std::uint32_t survivors = 99;
    pes.read(0, body.survivors, &survivors, 1);
    EXPECT_EQ(survivors, 0u);
  }
}

/// One call of PE 0 with one error.
struct bad_order {
  sym<signal_t> good;
  int fault;
  int which;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0 || block.thread_rank() != 0) return;
    const std::int32_t pe = fault == 1 ? 2 : fault == 2 ? -1 : 1;
    signal_t* const sig =
        fault == 3 ? reinterpret_cast<signal_t*>(reinterpret_cast<std::byte*>(good.at(ctx)) + 4) : good.at(ctx);
    const std::int32_t pes[3] = {0, 1, pe};
    if (which == 0) fence(ctx, pe);
    if (which == 1) quiet(ctx, pe);
    if (which == 2) quiet(ctx, pes, 3);
    if (which == 3) signal_set(ctx, this_thread{}, sig, 1, pe);
    if (which == 4) signal_take(ctx, sig, 0);
    if (which == 5) signal_wait_until(ctx, sig, cmp::ge, 0);
  }
};

TEST(order, checks_catch_bad_arguments) {
  using detail::operation;
  constexpr operation what[] = {operation::fence,  operation::quiet, operation::quiet,
                                operation::signal, operation::wait,  operation::wait};
  for (int which = 0; which < 6; ++which) {
    for (int fault = 0; fault <= 3; ++fault) {
      // some calls have no PE argument, some have no word
      if ((fault == 3) != (which > 3) && fault != 0 && which != 3) continue;
      SCOPED_TRACE(testing::Message() << "operation " << which << ", fault " << fault);
      pe_set pes(2, {.checks = true});
      const bad_order body{pes.allocate<signal_t>(2), fault, which};
      if (fault == 0) {
        pes.run({1, 2}, body);
      } else {
        expect_caught(pes, body, what[which],
                      fault == 3 ? detail::failure::misaligned : detail::failure::pe_out_of_range);
      }
    }
  }
}

}  // namespace
