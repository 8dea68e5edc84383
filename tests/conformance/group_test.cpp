// Every kind of group makes every kind of call: pgas's own, one that can do nothing but sync, and on GPUs those of
// cooperative groups, clusters of several blocks included.
#include "one_sided.hpp"

#if defined(__CUDACC__)
#include <cooperative_groups.h>
#endif

namespace {

using namespace pgas;
using namespace pgas_test;

/// A program's own kind of group, which has what every call asks for and no more.
template <class Block>
struct own_kind {
  const Block& block;
  [[nodiscard]] PGAS_FN std::uint32_t thread_rank() const { return static_cast<std::uint32_t>(block.thread_rank()); }
  [[nodiscard]] PGAS_FN std::uint32_t size() const { return static_cast<std::uint32_t>(block.size()); }
  PGAS_FN void sync() const { block.sync(); }
  [[nodiscard]] PGAS_FN bool any(bool yes) const { return block.any(yes); }
  template <class T>
  [[nodiscard]] PGAS_FN T broadcast(T value) const {
    return block.broadcast(value);
  }
};

/// What one group of each member does with the groups of its neighbours.
struct exercise {
  static constexpr std::uint32_t n = 1000;
  static constexpr std::uint32_t words = 10;

  test_team team;
  sym<std::uint32_t> inbox;
  sym<std::uint32_t> outbox;
  sym<signal_t> sigs;  // one for each word, one behind them that counts
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

  /// Calls that any group can make.
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

  /// Calls whose answer all threads must get.
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

  /// Collectives, which need only barriers of a group.
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

exercise make_exercise(pe_set& pes, const team_shape& shape) {
  return {make_team(pes, shape.members, shape.as_list),
          pes.allocate<std::uint32_t>(exercise::n),
          pes.allocate<std::uint32_t>(exercise::n),
          pes.allocate<signal_t>(exercise::words + 1),
          pes.allocate<std::size_t>(exercise::words),
          pes.allocate<lock_t>(1),
          pes.allocate<std::uint64_t>(1),
          make_findings(pes)};
}

void expect_inside(pe_set& pes, const exercise& body, const team_shape& shape, std::uint64_t rounds_made) {
  std::uint64_t inside = 0;
  pes.read(shape.members[0], body.inside, &inside, 1);
  EXPECT_EQ(inside, rounds_made * shape.members.size()) << shape.name;
}

struct own_groups : exercise {
  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0) return;
    const warp w = this_warp(block);
    if (block.thread_rank() == 0) everything(ctx, this_thread{}, 0);
    block.sync();
    if (w.meta_group_rank() == 0) everything(ctx, w, 1);
    block.sync();
    everything(ctx, block, 2);
    everything(ctx, own_kind<Block>{block}, 3);
  }
};

TEST(group, own_groups_make_every_call) {
  for (const team_shape& shape : team_shapes()) {
    for (const grid_shape& grid : {grid_shape{1, 1}, blocks().back()}) {
      pe_set pes(shape.n_pes);
      const own_groups body{make_exercise(pes, shape)};
      pes.run(grid, body);
      expect_nothing_found(pes, body.found);
      expect_inside(pes, body, shape, 4);
    }
  }
}

struct whole_grid : exercise {
  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() >= 0) everything(ctx, this_grid(block), 0);
  }
};

TEST(group, the_whole_grid_makes_every_call) {
  for (const team_shape& shape : few_team_shapes()) {
    pe_set pes(shape.n_pes);
    const whole_grid body{make_exercise(pes, shape)};
    pes.run({3, blocks().back().threads}, body);
    expect_nothing_found(pes, body.found);
    expect_inside(pes, body, shape, 1);
  }
}

#if defined(__CUDACC__)

namespace cg = cooperative_groups;

struct cooperative_block : exercise {
  template <class Block>
  PGAS_FN void operator()(const Block&, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0) return;
    const cg::thread_block block = cg::this_thread_block();
    everything(ctx, block, 0);
    const auto tile = cg::tiled_partition<8>(block);
    if (tile.meta_group_rank() == 3) everything(ctx, tile, 1);
    block.sync();
    if (threadIdx.x >= 64 && threadIdx.x % 3 == 0 && threadIdx.x < 96) everything(ctx, cg::coalesced_threads(), 2);
    block.sync();
  }
};

TEST(group, cooperative_groups_make_every_call) {
  for (const team_shape& shape : few_team_shapes()) {
    pe_set pes(shape.n_pes);
    const cooperative_block body{make_exercise(pes, shape)};
    pes.run({1, 256}, body);
    expect_nothing_found(pes, body.found);
    expect_inside(pes, body, shape, 3);
  }
}

/// Two blocks as one group; a third of the threads of a larger one would not end with the others if the vote were
/// local.
__global__ void __launch_bounds__(1024) __cluster_dims__(2, 1, 1)
    cluster_kernel([[maybe_unused]] context world, [[maybe_unused]] exercise body, [[maybe_unused]] bool in_vain) {
#if defined(_CG_HAS_CLUSTER_GROUP)
  const team_context ctx(world, body.team);
  if (ctx.my_pe() < 0) return;
  if (in_vain) {
    if (ctx.my_pe() == 0) wait_until(ctx, cg::this_cluster(), body.sigs.at(ctx), cmp::eq, 99);
    if (ctx.my_pe() == 0) atomic_inc(ctx, body.inside.at(ctx), 0);
  } else {
    body.everything(ctx, cg::this_cluster(), 0);
  }
#endif
}

/// Runs the kernel on all PEs to its end, as pe_set::run_out() would.
void run_clusters(pe_set& pes, const exercise& body, bool in_vain) {
  const int used = gpus() < pes.n_pes() ? gpus() : pes.n_pes();
  std::vector<cudaStream_t> streams(static_cast<std::size_t>(pes.n_pes()));
  for (int pe = 0; pe < pes.n_pes(); ++pe) {
    must(cudaSetDevice(pe % used), "cudaSetDevice");
    cudaFuncAttributes attributes{};
    must(cudaFuncGetAttributes(&attributes, cluster_kernel), "load the kernel");
    must(cudaStreamCreateWithFlags(&streams[static_cast<std::size_t>(pe)], cudaStreamNonBlocking), "stream");
  }
  for (int pe = 0; pe < pes.n_pes(); ++pe) {
    must(cudaSetDevice(pe % used), "cudaSetDevice");
    cluster_kernel<<<2, 64, 0, streams[static_cast<std::size_t>(pe)]>>>(pes.context_of(pe), body, in_vain);
    must(cudaGetLastError(), "launch");
  }
  for (int pe = 0; pe < pes.n_pes(); ++pe) {
    must(cudaSetDevice(pe % used), "cudaSetDevice");
    must(cudaStreamSynchronize(streams[static_cast<std::size_t>(pe)]), "kernel");
    must(cudaStreamDestroy(streams[static_cast<std::size_t>(pe)]), "stream");
  }
}

/// Clusters need compute capability 9.0.
bool have_clusters() {
  int major = 0;
  must(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "compute capability");
  return major >= 9;
}

TEST(group, clusters_make_every_call) {
  if (!have_clusters()) GTEST_SKIP() << "this GPU has no thread block clusters";
  for (const team_shape& shape : few_team_shapes()) {
    pe_set pes(shape.n_pes);
    const exercise body = make_exercise(pes, shape);
    run_clusters(pes, body, false);
    for (int pe = 0; pe < shape.n_pes; ++pe) ASSERT_EQ(pes.control(pe).record.complete, 0u);
    expect_nothing_found(pes, body.found);
    expect_inside(pes, body, shape, 1);
  }
}

TEST(group, clusters_give_up_together) {
  if (!have_clusters()) GTEST_SKIP() << "this GPU has no thread block clusters";
  const team_shape shape{"world of 2", 2, {0, 1}};
  pe_set pes(2, {.timeout = std::chrono::milliseconds(60)});
  const exercise body = make_exercise(pes, shape);
  run_clusters(pes, body, true);
  EXPECT_EQ(pes.control(0).record.why, detail::failure::timed_out);
  expect_inside(pes, body, shape, 0);
}

#endif

}  // namespace
