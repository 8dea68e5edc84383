// Barriers and syncs, and agreement within groups.
#include "harness.hpp"
#include "try_barrier.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// In each round every thread stores to the right by plain stores, a barrier follows, every thread checks its data, and
/// another barrier follows.
struct barrier_rounds {
  sym<std::uint32_t> cells;
  findings found;
  std::uint32_t n_rounds;
  bool of_domain;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.block_rank() != 0) return;
    const team_view team = of_domain ? ctx.domain() : ctx.world();
    const std::int32_t me = team.my_pe();
    found.check(ctx, 0, team.start_ == ctx.my_pe() / team.n_pes() * team.n_pes());
    const std::int32_t right = team.world_pe((me + 1) % team.n_pes());
    const std::int32_t left = team.world_pe((me + team.n_pes() - 1) % team.n_pes());
    const auto rank = static_cast<std::uint32_t>(block.thread_rank());
    for (std::uint32_t round = 0; round < n_rounds; ++round) {
      store_plainly(ctx, cells.at(ctx) + rank, mix(rank, round, static_cast<std::uint32_t>(ctx.my_pe())), right);
      barrier(ctx, block, team);
      found.equal(ctx, round, mix(rank, round, static_cast<std::uint32_t>(left)), cells.at(ctx)[rank]);
      barrier(ctx, block, team);
    }
  }
};

TEST(sync, barrier_makes_everything_visible) {
  for (int n : {1, 2, 3, 4}) {
    for (const grid_shape& shape : grids()) {
      pe_set pes(n);
      const barrier_rounds body{pes.allocate<std::uint32_t>(1024), make_findings(pes),
                                static_cast<std::uint32_t>(rounds(20'000)), n == 3};
      pes.run(shape, body);
      expect_nothing_found(pes, body.found);
    }
  }
}

TEST(sync, domains_have_barriers_of_their_own) {
  for (const grid_shape& shape : grids()) {
    pe_set pes(4, {.domain = 2});
    const barrier_rounds body{pes.allocate<std::uint32_t>(1024), make_findings(pes),
                              static_cast<std::uint32_t>(rounds(5'000)), true};
    pes.run(shape, body);
    expect_nothing_found(pes, body.found);
  }
}

// With 17, 32 and 19 domains, the domains notify one another in rounds. 32 is a power of two. 17 and 19 are not powers
// of two.
TEST(sync, a_barrier_of_many_domains_makes_everything_visible) {
  for (const int n : {17, 32, 37}) {
    pe_set pes(n, {.domain = n == 37 ? 2 : 1});
    const barrier_rounds body{pes.allocate<std::uint32_t>(1024), make_findings(pes),
                              static_cast<std::uint32_t>(rounds(n == 37 ? 50 : 200)), false};
    pes.run({1, 2}, body);
    expect_nothing_found(pes, body.found);
  }
}

/// No PE is more than one barrier ahead. The groups change from round to round and differ from PE to PE.
struct sync_rounds {
  sym<std::uint64_t> progress;  // one word for each PE, on every PE
  findings found;
  std::uint32_t n_rounds;
  bool order;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.block_rank() != 0) return;
    for (std::uint32_t round = 1; round <= n_rounds; ++round) {
      if (block.thread_rank() == 0) {
        for (std::int32_t pe = 0; pe < ctx.n_pes(); ++pe) p(ctx, progress.at(ctx) + ctx.my_pe(), round, pe);
        if (!order) quiet(ctx);
      }
      const auto way = static_cast<scope>((round + static_cast<std::uint32_t>(ctx.my_pe())) % 3);
      with_scope(way, block, [&](const auto& group) {
        if (order) {
          barrier(ctx, group);
        } else {
          sync(ctx, group);
        }
      });
      for (std::int32_t pe = 0; pe < ctx.n_pes(); ++pe) {
        const std::uint64_t seen = g(ctx, progress.at(ctx) + pe, ctx.my_pe());
        found.check(ctx, round, seen == round || seen == round + 1);
      }
    }
    if (block.thread_rank() == 0) {
      barrier(ctx);
      sync(ctx);
    }
  }
};

TEST(sync, nobody_runs_ahead) {
  for (int n : {1, 2, 4}) {
    for (const grid_shape& shape : grids()) {
      for (const bool order : {false, true}) {
        pe_set pes(n);
        const sync_rounds body{pes.allocate<std::uint64_t>(static_cast<std::size_t>(n)), make_findings(pes),
                               static_cast<std::uint32_t>(rounds(20'000)), order};
        pes.run(shape, body);
        expect_nothing_found(pes, body.found);
      }
    }
  }
}

/// The barrier for library kernels, which returns true on every thread if there is no failure.
struct bool_barrier {
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (block.block_rank() != 0) return;
    for (int i = 0; i < 100; ++i) {
      found.check(ctx, 1, try_barrier<detail::arrival::release>(ctx, block, ctx.world()));
      found.check(ctx, 2, try_barrier<detail::arrival::relaxed>(ctx, block, ctx.domain()));
    }
    with_scope(scope::warp, block, [&](const auto& group) {
      found.check(ctx, 3, try_barrier<detail::arrival::release>(ctx, group, ctx.world()));
    });
  }
};

/// All threads get the value of one thread.
struct agreement {
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    for (std::uint32_t i = 0; i < 50; ++i) {
      for (int by = 0; by < 3; ++by) {
        with_scope(static_cast<scope>(by), block, [&](const auto& group) {
          const auto rank = static_cast<std::uint32_t>(group.thread_rank());
          const auto size = static_cast<std::uint32_t>(group.size());
          found.equal(ctx, 1, std::uint64_t{mix(i, 0)} << 20,
                      detail::broadcast(group, std::uint64_t{mix(i, rank)} << 20));
          found.check(ctx, 2, detail::any(group, rank == i % size));
          found.check(ctx, 3, !detail::any(group, false));
          found.equal(ctx, 4, std::size_t{7}, detail::broadcast(group, std::size_t{rank + 7}));
        });
      }
    }
    const warp w = this_warp(block);
    found.check(ctx, 5, w.thread_rank() < w.size() && w.meta_group_rank() < w.meta_group_size());
  }
};

TEST(sync, groups_agree) {
  for (const grid_shape& shape : grids()) {
    pe_set pes(2);
    const findings found = make_findings(pes);
    pes.run(shape, agreement{found});
    pes.run(shape, bool_barrier{found});
    expect_nothing_found(pes, found);
  }
}

}  // namespace
