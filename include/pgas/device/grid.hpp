/// @file
/// All threads of all blocks of a launch as one group. Every operation that takes a group takes it.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/group.hpp"
#include "pgas/device/impl/sync/grid_barrier.hpp"

namespace pgas {

/// The threads of a whole grid, numbered block by block. Names as in cooperative_groups::grid_group, whose sync() has
/// no end if a block never comes; this one ends the threads when the world has failed, another thread of this PE has
/// given up, or the deadline of waits passes.
///
/// *Callers* kernels that launch() started with all blocks resident at once (`launch_config::resident`).
class grid {
 public:
  /// The grid that the block belongs to.
  PGAS_FN explicit grid(const launched_block& part) : block_(part) {}

  /// Linear index of the calling thread in the grid.
  [[nodiscard]] PGAS_FN std::uint32_t thread_rank() const {
    return block_.block_rank() * block_.size() + block_.thread_rank();
  }
  /// How many threads the grid has.
  [[nodiscard]] PGAS_FN std::uint32_t size() const { return block_.num_blocks() * block_.size(); }
  /// Returns when all threads of the grid have called it. *Order* what any of them did before is visible to all of them
  /// after; for peers, fence() and quiet() of the grid do the same.
  PGAS_FN void sync() const { static_cast<void>(any(false)); }

  /// Whether `yes` holds on any thread, on all threads. Also a sync().
  [[nodiscard]] PGAS_FN bool any(bool yes) const { return detail::grid_any(block_, yes); }
  /// The value of the thread with rank 0, on all threads. Also a sync(). *Memory* T is trivially copyable, at most 64
  /// bytes.
  template <class T>
  [[nodiscard]] PGAS_FN T broadcast(T value) const {
    return detail::grid_broadcast(block_, value);
  }

 private:
  launched_block block_;
};

/// The grid of the block that launch() passes to the kernel. A this_block() knows no grid: take the kernel's first
/// parameter as it is (a template parameter or launched_block). *Callers* any thread of the block.
[[nodiscard]] PGAS_FN grid this_grid(const launched_block& part) { return grid(part); }

static_assert(is_group<grid>);

}  // namespace pgas

#include "pgas/detail/names_end.inc"
