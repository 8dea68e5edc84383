/// @file
/// Regions of blocks (region.h): the region of the calling block, stored in the table of running blocks. For kernels,
/// and for blocks on the CPU.
#pragma once

#include "pgas/compat/nvshmem/types.h"
#include "pgas/device/impl/sync/block_table.hpp"

namespace pgas::compat {

/// The answer that the first thread of a block passes to the others.
struct region_answer {
  nvshmemx_region_handle_t handle;
  std::int64_t status;
};

[[nodiscard]] PGAS_HD bool are_region_hints(std::uint32_t hints) {
  return (hints & ~std::uint32_t{NVSHMEMX_REGION_HINT_BATCH_RMA}) == 0;
}

/// Starts a region of the calling block. Called by its first thread.
[[nodiscard]] PGAS_FN region_answer start_region_here(detail::block_table* blocks,
                                                      const nvshmemx_region_attrs_t* attrs) {
  const std::uint32_t hints = attrs != nullptr ? attrs->hints : std::uint32_t{NVSHMEMX_REGION_HINT_NONE};
  if (!are_region_hints(hints)) return {0, NVSHMEMX_ERROR_INVALID_VALUE};
  detail::block_entry* const own = blocks != nullptr ? blocks->find_or_make(detail::block_table::own_key()) : nullptr;
  if (own == nullptr) return {0, NVSHMEMX_ERROR_OUT_OF_MEMORY};
  if (own->region != 0) return {0, NVSHMEMX_ERROR_INVALID_VALUE};
  own->region = blocks->next_ticket();
  own->hints = hints;
  return {own->region, NVSHMEMX_SUCCESS};
}

/// nvshmemx_region_start_block().
template <class Block>
[[nodiscard]] PGAS_FN int start_region(detail::block_table* blocks, const Block& block,
                                       nvshmemx_region_handle_t* handle, const nvshmemx_region_attrs_t* attrs) {
  block.sync();
  region_answer answer{0, NVSHMEMX_ERROR_INVALID_VALUE};
  if (block.thread_rank() == 0 && handle != nullptr) answer = start_region_here(blocks, attrs);
  answer = block.broadcast(answer);
  if (answer.status == NVSHMEMX_SUCCESS && handle != nullptr) *handle = answer.handle;
  return static_cast<int>(answer.status);
}

/// nvshmemx_region_stop_block().
template <class Block>
[[nodiscard]] PGAS_FN int stop_region(detail::block_table* blocks, const Block& block,
                                      nvshmemx_region_handle_t handle) {
  block.sync();
  region_answer answer{0, NVSHMEMX_ERROR_INVALID_VALUE};
  if (block.thread_rank() == 0 && handle != 0 && blocks != nullptr) {
    detail::block_entry* const own = blocks->find(detail::block_table::own_key());
    if (own != nullptr && own->region == handle) {
      own->region = 0;
      detail::block_table::drop_if_empty(own);
      answer.status = NVSHMEMX_SUCCESS;
    }
  }
  return static_cast<int>(block.broadcast(answer).status);
}

/// nvshmemx_region_is_active(), by any thread of a block.
[[nodiscard]] PGAS_FN int is_region_active(detail::block_table* blocks, std::uint32_t hints, int* active) {
  if (active == nullptr || !are_region_hints(hints)) return NVSHMEMX_ERROR_INVALID_VALUE;
  const detail::block_entry* const own = blocks != nullptr ? blocks->find(detail::block_table::own_key()) : nullptr;
  *active = own != nullptr && own->region != 0 && (own->hints & hints) == hints ? 1 : 0;
  return NVSHMEMX_SUCCESS;
}

}  // namespace pgas::compat
