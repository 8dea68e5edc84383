/// @file
/// Every kind of call, made by one group of each member. The group can be of any kind.
#pragma once

#include "one_sided.hpp"

namespace pgas_test {

/// One group of each member exchanges data with the groups of its neighbours.
struct exercise {
  static constexpr std::uint32_t n = 1000;
  static constexpr std::uint32_t words = 10;

  test_team team;
  sym<std::uint32_t> inbox;
  sym<std::uint32_t> outbox;
  sym<signal_t> sigs;  // one signal for each word, followed by a signal that is a counter
  sym<std::size_t> indices;
  sym<lock_t> lock;
  sym<std::uint64_t> inside;
  findings found;

  PGAS_FN std::uint32_t value(std::int32_t pe, std::uint32_t i, std::uint32_t round) const {
    return mix(i, round, static_cast<std::uint32_t>(pe));
  }

  template <class G>
  PGAS_FN void expect(const context& ctx, const G& g, const std::uint32_t* at, std::uint32_t stride, std::int32_t from,
                      std::uint32_t round) const {
    const auto size = static_cast<std::uint32_t>(g.size());
    for (auto i = static_cast<std::uint32_t>(g.thread_rank()); i < n / stride; i += size) {
      found.equal(ctx, round << 20 | i, value(from, i, round), at[i * stride]);
    }
    g.sync();
  }

  /// Calls that every group can make.
  template <class G>
  PGAS_FN void copies(const context& ctx, const G& g, std::uint32_t round) const {
    const auto rank = static_cast<std::uint32_t>(g.thread_rank());
    const auto size = static_cast<std::uint32_t>(g.size());
    const std::int32_t next = next_member(ctx);
    std::uint32_t* const in = inbox.at(ctx);
    std::uint32_t* const out = outbox.at(ctx);
    signal_t* const count = sigs.at(ctx) + words;
    for (std::uint32_t i = rank; i < n; i += size) out[i] = value(ctx.my_pe(), i, round);
    g.sync();
    put_signal(ctx, g, in, out, n, count, 1, signal_op::add, next);
    wait_until(ctx, g, count, cmp::ge, round * 3 + 1);
    expect(ctx, g, in, 1, last_member(ctx), round);
    barrier(ctx, g, ctx.team());
    iput(ctx, g, in, out, 2, 1, n / 2, next);
    fence(ctx, g);
    signal_add(ctx, g, count, 1, next);
    wait_until(ctx, g, count, cmp::ge, round * 3 + 2);
    expect(ctx, g, in, 2, last_member(ctx), round);
    barrier(ctx, g, ctx.team());
    get(ctx, g, in, out, n, next);
    expect(ctx, g, in, 1, next, round);
    quiet(ctx, g, next);
    signal_add(ctx, g, count, 1, next);
    wait_until_all(ctx, g, count, 1, nullptr, cmp::ge, round * 3 + 3);
    set_lock(ctx, g, lock.at(ctx));
    if (rank == 0) p(ctx, inside.at(ctx), pgas::g(ctx, inside.at(ctx), 0) + 1, 0);
    clear_lock(ctx, g, lock.at(ctx));
    barrier(ctx, g, ctx.team());
  }

  /// Calls whose result all threads must get.
  template <class G>
  PGAS_FN void answers(const context& ctx, const G& g, std::uint32_t round) const {
    signal_t* const w = sigs.at(ctx);
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t which = (i * 7 + round) % words;
      found.equal(ctx, 1, no_index, test_any(ctx, g, w, words, nullptr, cmp::gt, round));
      barrier(ctx, g, ctx.team());
      signal_set(ctx, g, w + which, round + 1, next_member(ctx));
      found.equal(ctx, 2, std::size_t{which}, wait_until_any(ctx, g, w, words, nullptr, cmp::gt, round));
      found.equal(ctx, 3, std::size_t{1}, wait_until_some(ctx, g, w, words, indices.at(ctx), nullptr, cmp::gt, round));
      found.equal(ctx, 4, std::size_t{which}, indices.at(ctx)[0]);
      found.equal(ctx, 5, signal_t{round + 1}, signal_wait_until(ctx, g, w + which, cmp::eq, round + 1));
      found.equal(ctx, 6, signal_t{0}, signal_take(ctx, g, w + which, round + 1));
      found.check(ctx, 7, test_all(ctx, g, w, words, nullptr, cmp::eq, 0));
      found.check(ctx, 8, test(ctx, g, w + which, cmp::eq, 0));
      found.equal(ctx, 9, signal_t{0}, signal_fetch(ctx, g, w + which));
      barrier(ctx, g, ctx.team());
    }
  }

  /// Collectives, which use the group only for its barriers.
  template <class G>
  PGAS_FN void collectives(const context& ctx, const G& g, std::uint32_t round) const {
    const auto rank = static_cast<std::uint32_t>(g.thread_rank());
    const auto size = static_cast<std::uint32_t>(g.size());
    const team_view& all = ctx.team();
    const std::uint32_t share = n / static_cast<std::uint32_t>(all.n_pes());
    std::uint32_t* const in = inbox.at(ctx);
    std::uint32_t* const out = outbox.at(ctx);
    for (std::uint32_t i = rank; i < n; i += size) out[i] = value(ctx.my_pe(), i, round);
    reduce(ctx, g, all, in, out, n, op::sum{});
    for (std::uint32_t i = rank; i < n; i += size) {
      std::uint32_t sum = 0;
      for (std::int32_t pe = 0; pe < all.n_pes(); ++pe) sum += value(pe, i, round);
      found.equal(ctx, 10, sum, in[i]);
    }
    barrier(ctx, g, all);
    fcollect(ctx, g, all, in, out, share);
    for (std::uint32_t i = rank; i < share; i += size) {
      for (std::int32_t pe = 0; pe < all.n_pes(); ++pe)
        found.equal(ctx, 11, value(pe, i, round), in[static_cast<std::uint32_t>(pe) * share + i]);
    }
    barrier(ctx, g, all);
    alltoall(ctx, g, all, in, out, share);
    for (std::uint32_t i = rank; i < share; i += size) {
      for (std::int32_t pe = 0; pe < all.n_pes(); ++pe)
        found.equal(ctx, 12, value(pe, static_cast<std::uint32_t>(ctx.my_pe()) * share + i, round),
                    in[static_cast<std::uint32_t>(pe) * share + i]);
    }
    barrier(ctx, g, all);
  }

  template <class G>
  PGAS_FN void everything(const context& ctx, const G& g, std::uint32_t round) const {
    copies(ctx, g, round);
    collectives(ctx, g, round);
    answers(ctx, g, round);
  }
};

inline exercise make_exercise(pe_set& pes, const team_shape& shape) {
  return {make_team(pes, shape.members, shape.as_list),
          pes.allocate<std::uint32_t>(exercise::n),
          pes.allocate<std::uint32_t>(exercise::n),
          pes.allocate<signal_t>(exercise::words + 1),
          pes.allocate<std::size_t>(exercise::words),
          pes.allocate<lock_t>(1),
          pes.allocate<std::uint64_t>(1),
          make_findings(pes)};
}

inline void expect_inside(pe_set& pes, const exercise& body, const team_shape& shape, std::uint64_t rounds_made) {
  std::uint64_t inside = 0;
  pes.read(shape.members[0], body.inside, &inside, 1);
  EXPECT_EQ(inside, rounds_made * shape.members.size()) << shape.name;
}

}  // namespace pgas_test
