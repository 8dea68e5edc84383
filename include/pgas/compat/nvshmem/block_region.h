/// @file
/// Regions of blocks (region.h), in the shared memory of the block. For kernels, and for blocks on the CPU.
#pragma once

#include "pgas/compat/nvshmem/types.h"
#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/device/group.hpp"

namespace pgas::compat {

/// The region of a block. Shared memory is not initialized, so the struct is valid only if `owner` has the value of
/// this block.
struct block_region {
  std::uint64_t owner;
  nvshmemx_region_handle_t handle;  ///< 0: no region
  std::uint32_t hints;
  std::uint32_t started;  ///< the number of regions of the block so far

  /// The value of `owner` for the calling block. Uninitialized memory is unlikely to contain this value.
  [[nodiscard]] PGAS_FN static std::uint64_t own_owner() {
    const std::uint64_t key = std::uint64_t{detail::place_launch()} << 32 | detail::place_block();
    return (key ^ 0xa5a3564e36d05b8bu) * 0x9e3779b97f4a7c15u;
  }
};

[[nodiscard]] PGAS_HD bool are_region_hints(std::uint32_t hints) {
  return (hints & ~std::uint32_t{NVSHMEMX_REGION_HINT_BATCH_RMA}) == 0;
}

/// Implements nvshmemx_region_start_block().
template <class Block>
[[nodiscard]] PGAS_FN int start_region(block_region& own, const Block& block, nvshmemx_region_handle_t* handle,
                                       const nvshmemx_region_attrs_t* attrs) {
  block.sync();
  nvshmemx_region_handle_t started = 0;
  if (block.thread_rank() == 0 && handle != nullptr) {
    const std::uint32_t hints = attrs != nullptr ? attrs->hints : std::uint32_t{NVSHMEMX_REGION_HINT_NONE};
    const std::uint64_t me = block_region::own_owner();
    if (own.owner != me) own = {me, 0, 0, 0};
    if (own.handle == 0 && are_region_hints(hints)) {
      ++own.started;
      own.handle = (me + 2 * std::uint64_t{own.started}) | 1;
      own.hints = hints;
      started = own.handle;
    }
  }
  started = block.broadcast(started);
  if (started == 0) return NVSHMEMX_ERROR_INVALID_VALUE;
  if (handle != nullptr) *handle = started;
  return NVSHMEMX_SUCCESS;
}

/// Implements nvshmemx_region_stop_block().
template <class Block>
[[nodiscard]] PGAS_FN int stop_region(block_region& own, const Block& block, nvshmemx_region_handle_t handle) {
  block.sync();
  bool stopped = false;
  if (block.thread_rank() == 0 && handle != 0 && own.owner == block_region::own_owner() && own.handle == handle) {
    own.handle = 0;
    stopped = true;
  }
  return block.broadcast(stopped) ? NVSHMEMX_SUCCESS : NVSHMEMX_ERROR_INVALID_VALUE;
}

/// Implements nvshmemx_region_is_active() for any thread of a block.
[[nodiscard]] PGAS_FN int is_region_active(const block_region& own, std::uint32_t hints, int* active) {
  if (active == nullptr || !are_region_hints(hints)) return NVSHMEMX_ERROR_INVALID_VALUE;
  const bool inside = own.owner == block_region::own_owner() && own.handle != 0;
  *active = inside && (own.hints & hints) == hints ? 1 : 0;
  return NVSHMEMX_SUCCESS;
}

}  // namespace pgas::compat
