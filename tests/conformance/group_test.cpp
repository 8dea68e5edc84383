// Every kind of group makes every kind of call: the groups of pgas, a group that only has sync, and on GPUs the groups
// of cooperative groups, including clusters of several blocks.
#include "exercise.hpp"

#if defined(__CUDACC__)
#include <cooperative_groups.h>
#endif

namespace {

using namespace pgas;
using namespace pgas_test;

/// A program's own kind of group. The type has only the member functions that the calls need.
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

/// Two blocks form one group. If a wait fails, the threads vote, and all end. If each block voted separately, one block
/// could end while the second block continues.
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

/// Runs the kernel on all PEs until it ends, as pe_set::run_out() does.
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
