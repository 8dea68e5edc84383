/// @file
/// Functions by which some warps of a block sync and vote. The functions use the 16 numbered barriers that a GPU
/// provides for each block (`bar`). Used by `device/group.hpp`; not available on the CPU.
#pragma once

#include "pgas/detail/compiler.hpp"

#if defined(__CUDACC__)

namespace pgas::detail {

/// The number of barriers; `__syncthreads()` uses barrier 0.
inline constexpr std::uint32_t hardware_barriers = 16;

/// Returns when `threads` threads, in whole warps, have arrived at the barrier. Orders memory among these threads.
PGAS_FN void named_barrier_sync(std::uint32_t barrier, std::uint32_t threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// Like named_barrier_sync(), but also returns whether `yes` is true on any of the threads.
[[nodiscard]] PGAS_FN bool named_barrier_any(std::uint32_t barrier, std::uint32_t threads, bool yes) {
  std::uint32_t all;
  asm volatile(
      "{ .reg .pred p, q;\n"
      "  setp.ne.u32 p, %1, 0;\n"
      "  barrier.red.or.pred q, %2, %3, p;\n"
      "  selp.u32 %0, 1, 0, q; }"
      : "=r"(all)
      : "r"(yes ? 1u : 0u), "r"(barrier), "r"(threads)
      : "memory");
  return all != 0;
}

}  // namespace pgas::detail

#endif
