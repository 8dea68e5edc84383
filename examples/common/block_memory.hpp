/// @file
/// Memory that the threads of a block share.
#pragma once

#include <cstddef>

#include "pgas/device/group.hpp"

namespace examples {

/// The memory of the calling thread's block. On a GPU it is the shared memory of the launch. On a CPU it is `bytes`
/// bytes of `on_cpu`, which has memory for each block. *Memory* aligned to 16 bytes if `bytes` is a multiple of 16 and
/// `on_cpu` is aligned to 16 bytes.
template <pgas::block_group Block>
[[nodiscard]] PGAS_FN std::byte* memory_of([[maybe_unused]] const Block& block, [[maybe_unused]] std::byte* on_cpu,
                                           [[maybe_unused]] std::size_t bytes) {
#if defined(__CUDACC__)
  extern __shared__ float4 shared_by_block[];
  return reinterpret_cast<std::byte*>(shared_by_block);
#else
  return on_cpu + static_cast<std::size_t>(block.block_rank()) * bytes;
#endif
}

}  // namespace examples
