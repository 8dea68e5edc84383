/// @file
/// All threads of all blocks of a launch as one group. Every operation that takes a group accepts a grid.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/group.hpp"
#include "pgas/device/impl/sync/grid_barrier.hpp"

namespace pgas {

/// @brief The threads of a whole grid, numbered block by block.
///
/// cooperative_groups::grid_group has functions of the same names, but its sync() never returns if a block does not
/// arrive. The sync() of this class ends the threads when the world has failed, a wait of another thread of this PE has
/// failed, or the deadline of waits passes.
///
/// *Callers* kernels that launch() started with all blocks resident (`launch_config::resident`).
class grid {
 public:
  /// @brief The grid that the block belongs to.
  PGAS_FN explicit grid(const launched_block& part) : block_(part) {}

  /// @brief Linear index of the calling thread in the grid.
  [[nodiscard]] PGAS_FN std::uint32_t thread_rank() const {
    return block_.block_rank() * block_.size() + block_.thread_rank();
  }
  /// @brief The number of threads of the grid.
  [[nodiscard]] PGAS_FN std::uint32_t size() const { return block_.num_blocks() * block_.size(); }
  /// @brief Returns when all threads of the grid have called sync().
  ///
  /// *Order* accesses of any thread before the call are visible to all threads after the call. For an order that peers
  /// also see, call fence() or quiet() with the grid as the group.
  PGAS_FN void sync() const { static_cast<void>(any(false)); }

  /// @brief Votes: true on all threads if `yes` is true on any thread.
  ///
  /// The call is also a sync().
  [[nodiscard]] PGAS_FN bool any(bool yes) const { return detail::grid_any(block_, yes); }
  /// @brief Returns the value of the thread with rank 0 on all threads.
  ///
  /// The call is also a sync().
  ///
  /// *Memory* T is trivially copyable, at most 64 bytes.
  template <class T>
  [[nodiscard]] PGAS_FN T broadcast(T value) const {
    return detail::grid_broadcast(block_, value);
  }

 private:
  launched_block block_;
};

/// @brief The grid of the block that launch() passes to the kernel. The block that this_block() returns has no grid, so
/// pass the kernel's first parameter unchanged (its type is a template parameter or launched_block).
///
/// *Callers* any thread of the block.
[[nodiscard]] PGAS_FN grid this_grid(const launched_block& part) { return grid(part); }

static_assert(is_group<grid>);

}  // namespace pgas

#include "pgas/detail/names_end.inc"
