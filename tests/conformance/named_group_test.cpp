// Parts of a block that make calls at the same time, each with a separate barrier: named groups and warpgroups.
#include "exercise.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// The number of threads of a block. A quarter of a block has several threads, and on GPUs whole warps. A block has at
/// most the threads of two warpgroups.
unsigned threads_of_block() {
  const unsigned most = blocks().back().threads;
  return most < 8 ? 8 : most < 256 ? most : 256;
}

/// Two groups of a block at the same time, with separate barriers and separate teams, and then the warpgroups of the
/// block.
struct parts_of_a_block {
  exercise first;
  exercise second;

  PGAS_FN const exercise& exercise_of(std::uint32_t which) const { return which == 0 ? first : second; }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    if (team_context(world, first.team).my_pe() < 0) return;
    const auto rank = static_cast<std::uint32_t>(block.thread_rank());
    const auto quarter = static_cast<std::uint32_t>(block.size()) / 4;
    const named_group part =
        rank < quarter ? named_group(1, quarter, rank) : named_group(9, 3 * quarter, rank - quarter);
    const exercise& mine = exercise_of(rank < quarter ? 0 : 1);
    mine.everything(team_context(world, mine.team), part, 0);
    block.sync();
    const warpgroup whole = this_warpgroup(block);
    const exercise& next = exercise_of(whole.meta_group_rank());
    next.everything(team_context(world, next.team), whole, 1);
  }
};

TEST(named_group, parts_of_a_block_make_every_call_at_the_same_time) {
  for (const team_shape& shape : few_team_shapes()) {
    pe_set pes(shape.n_pes);
    const parts_of_a_block body{make_exercise(pes, shape), make_exercise(pes, shape)};
    const unsigned threads = threads_of_block();
    pes.run({1, threads}, body);
    for (const exercise* each : {&body.first, &body.second}) expect_nothing_found(pes, each->found);
    expect_inside(pes, body.first, shape, 2);
    expect_inside(pes, body.second, shape, threads > 128 ? 2 : 1);
  }
}

/// Gives the threads of a group several results, one after another, while another group gets its own results. A thread
/// must never receive an earlier result.
struct answers_of_parts {
  static constexpr std::uint32_t most_parts = 4;
  findings found;
  std::uint32_t n_rounds;

  template <std::size_t Words>
  struct value {
    std::uint32_t w[Words];
  };

  template <std::size_t Words, class G>
  PGAS_FN void hand_round(const context& ctx, const G& g, std::uint32_t part, std::uint32_t round) const {
    value<Words> mine{};
    if (g.thread_rank() == 0) {
      for (std::uint32_t i = 0; i < Words; ++i) mine.w[i] = mix(i, round, part);
    }
    const value<Words> all = detail::broadcast(g, mine);
    for (std::uint32_t i = 0; i < Words; ++i) found.equal(ctx, round, mix(i, round, part), all.w[i]);
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    const auto rank = static_cast<std::uint32_t>(block.thread_rank());
    const std::uint32_t size = block.size() / most_parts;
    const std::uint32_t part = rank / size;
    const named_group g(part + 3, size, rank % size);
    // the parts make different numbers of rounds
    for (std::uint32_t round = 0; round < n_rounds * (part + 1); ++round) {
      hand_round<1>(ctx, g, part, round);
      hand_round<4>(ctx, g, part, round);
      hand_round<15>(ctx, g, part, round);
      const std::uint32_t who = mix(round, part) % (2 * size);
      found.equal(ctx, round, who < size, detail::any(g, g.thread_rank() == who));
    }
  }
};

TEST(named_group, answers_of_parts_of_a_block_do_not_mix) {
  pe_set pes(1);
  const answers_of_parts body{make_findings(pes), static_cast<std::uint32_t>(rounds(2'000))};
  pes.run({2, threads_of_block()}, body);
  expect_nothing_found(pes, body.found);
}

/// One part waits for a value that never arrives, and the other part waits for the first part. Both parts end, no
/// matter which thread detects the failure.
struct parts_in_vain {
  sym<signal_t> sigs;
  sym<std::uint32_t> returned;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    const auto rank = static_cast<std::uint32_t>(block.thread_rank());
    const auto half = static_cast<std::uint32_t>(block.size()) / 2;
    const std::uint32_t part = rank / half;
    const named_group g(15 - part, half, rank % half);
    wait_until(ctx, g, sigs.at(ctx) + part, cmp::eq, 1);
    if (part == 0) signal_set(ctx, g, sigs.at(ctx) + 1, 1, ctx.my_pe());
    atomic_inc(ctx, returned.at(ctx), ctx.my_pe());
  }
};

TEST(named_group, parts_of_a_block_give_up_together) {
  pe_set pes(1, {.timeout = std::chrono::milliseconds(60)});
  const parts_in_vain body{pes.allocate<signal_t>(2), pes.allocate<std::uint32_t>(1)};
  const std::vector<bool> gave_up = pes.run_out({1, threads_of_block()}, body);
  ASSERT_TRUE(gave_up[0]);
  EXPECT_EQ(pes.control(0).record.what, detail::operation::wait);
  std::uint32_t returned = 1;
  pes.read(0, body.returned, &returned, 1);
  EXPECT_EQ(returned, 0u);
}

}  // namespace
