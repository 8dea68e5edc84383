/// @file
/// Copies the blocks of a list on a stream of the application. This process has mapped all blocks. The copies need no
/// world.
#pragma once

#include <cstddef>

#include "pgas/copy_list.hpp"

namespace pgas::detail {

/// The smallest block size for which a copy by a copy engine is faster than a kernel. A copy engine takes about 1.5 us
/// longer for each copy than a kernel, and has 10 % more bandwidth.
inline constexpr std::size_t engine_block_bytes = std::size_t{8} << 20;

/// Whether copy engines copy the list, block by block. In that case the host reads the arrays of the list during the
/// call. So the result is true only for arrays in pageable memory, which no stream changes.
/// @param is_pageable tells whether an array is in pageable memory of the host
template <class Pageable>
[[nodiscard]] bool is_for_copy_engines(const copy_list& list, const Pageable& is_pageable) {
  if (list.has_pages()) {
    const auto is_read_now = [&](const void* index) { return index == nullptr || is_pageable(index); };
    return list.page_bytes() >= engine_block_bytes && is_read_now(list.to_pages().index) &&
           is_read_now(list.from_pages().index);
  }
  if (!is_pageable(list.blocks())) return false;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].bytes < engine_block_bytes) return false;
  return true;
}

/// Whether a list has an array of blocks or of indices. In a capture, copy engines cannot copy a list with one of these
/// arrays, because a CUDA graph reads arrays at each launch.
[[nodiscard]] inline bool has_array(const copy_list& list) {
  return !list.has_pages() || list.to_pages().index != nullptr || list.from_pages().index != nullptr;
}

/// Copies the blocks. @param stream as in stream_words
void copy_list_on_host(void* stream, const copy_list& list);
/// Enqueues the copies on a stream of a GPU. *Errors* device_unavailable; capturing, if the stream is being captured
/// and an array is in pageable memory; device_failed.
/// @param most_blocks the limit of thread blocks; 0: no limit
void copy_list_on_gpu(int ordinal, void* stream, const copy_list& list, unsigned most_blocks);

}  // namespace pgas::detail
