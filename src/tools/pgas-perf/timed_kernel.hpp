/// @file
/// Building blocks of rows that kernels measure. A kernel is a function object with the scope as a template parameter.
/// The files with kernels are compiled twice, by the C++ compiler for the host heap and by nvcc for GPUs. The macro
/// PGAS_PERF_SIDE gives each compilation a separate namespace.
#pragma once

#include "benchmark_list.hpp"
#include "benchmark_world.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace pgas::perf::PGAS_PERF_SIDE {

/// The launch bounds on GPUs for a kernel of shape::grid.
struct any_block {
  static constexpr unsigned max_threads = 1024;
  static constexpr unsigned min_blocks = 1;
};
/// The launch bounds for shape::group, where smaller blocks leave more registers.
struct one_group {
  static constexpr unsigned max_threads = max_group_threads;
  static constexpr unsigned min_blocks = 1;
};

/// Calls `f(group, index, count)` once for each group of this scope in the grid, on the threads of the group. `count`
/// is the number of these groups, and `index` is the number of this group.
template <scope By, class Block, class F>
PGAS_FN void by_groups(const Block& block, const F& f) {
  if constexpr (By == scope::block) {
    f(block, block.block_rank(), block.num_blocks());
  } else if constexpr (By == scope::warp) {
    const warp mine = this_warp(block);
    f(mine, block.block_rank() * mine.meta_group_size() + mine.meta_group_rank(),
      block.num_blocks() * mine.meta_group_size());
  } else {
    f(this_thread{}, block.block_rank() * block.size() + block.thread_rank(), block.num_blocks() * block.size());
  }
}

/// Calls `f(group)` on the only group of a launch of shape::group.
template <scope By, class Block, class F>
PGAS_FN void by_group(const Block& block, const F& f) {
  by_groups<By>(block, [&](const auto& group, std::uint32_t, std::uint32_t) { f(group); });
}

/// Runs `once(i)` for all iterations and then `finish()`, on all threads of the grid. Stores the time of the iterations
/// after the warm-up, including `finish()`.
template <class Block, class Once, class Finish>
PGAS_FN void time(const Block& block, const job& j, const Once& once, const Finish& finish) {
  const grid all = this_grid(block);
  std::uint64_t start = 0;
  for (std::uint32_t i = 0; i < j.rounds(); ++i) {
    if (i == j.warmup) {
      finish();
      all.sync();
      start = detail::clock_ns();
    }
    once(i);
  }
  finish();
  all.sync();
  if (all.thread_rank() == 0) *j.nanoseconds = detail::clock_ns() - start;
}

/// Runs `once(i)` for all iterations, without a last step.
template <class Block, class Once>
PGAS_FN void time(const Block& block, const job& j, const Once& once) {
  time(block, j, once, [] {});
}

/// row::run for a kernel without scopes: launches the kernel on all PEs.
template <class Kernel>
double run_kernel(benchmark_world& s, const point& at, const job& j) {
  launch(s.world(), {.blocks = at.blocks, .threads = at.threads}, Kernel{}, s.world().context(), j);
  s.world().synchronize();
  return static_cast<double>(s.word(j.nanoseconds));
}

/// row::run for a kernel with a version for each scope.
template <template <scope> class Kernel>
double run_kernel(benchmark_world& s, const point& at, const job& j) {
  if (at.by == scope::thread) return run_kernel<Kernel<scope::thread>>(s, at, j);
  if (at.by == scope::warp) return run_kernel<Kernel<scope::warp>>(s, at, j);
  return run_kernel<Kernel<scope::block>>(s, at, j);
}

}  // namespace pgas::perf::PGAS_PERF_SIDE
