/// @file
/// Queries about the calling block, and a lock in its shared memory. The functions exist only for sm_90 and newer,
/// because copies use lent memory only on these GPUs.
#pragma once

#include "pgas/detail/isa/ptx_copy.hpp"

#if defined(PGAS_HAS_BULK_COPIES)

namespace pgas::detail {

/// Whether [address, address + bytes) of the shared window is memory of the calling block.
[[nodiscard]] PGAS_FN bool is_shared_of_block(std::uint32_t address, std::uint32_t bytes) {
  std::uint32_t all;
  asm("mov.u32 %0, %%aggr_smem_size;" : "=r"(all));
  return bytes <= all && address <= all - bytes;
}

/// Loads a word of shared memory by its address in the shared window.
template <class T>
[[nodiscard]] PGAS_FN T load_shared(std::uint32_t address) {
  T v;
  if constexpr (sizeof(T) == 4) {
    asm volatile("ld.shared::cta.u32 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
  } else {
    asm volatile("ld.shared::cta.u64 %0, [%1];" : "=l"(v) : "r"(address) : "memory");
  }
  return v;
}
template <class T>
PGAS_FN void store_shared(std::uint32_t address, T v) {
  if constexpr (sizeof(T) == 4) {
    asm volatile("st.shared::cta.u32 [%0], %1;" ::"r"(address), "r"(v) : "memory");
  } else {
    asm volatile("st.shared::cta.u64 [%0], %1;" ::"r"(address), "l"(v) : "memory");
  }
}

/// Tries once to lock: changes a word in shared memory from 0 to 1. The change is an acquire.
[[nodiscard]] PGAS_FN bool try_lock_shared(std::uint32_t address) {
  std::uint32_t old;
  asm volatile("atom.acquire.cta.shared::cta.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "r"(address) : "memory");
  return old == 0;
}
/// Unlocks: stores 0 in a word in shared memory. The store is a release.
PGAS_FN void unlock_shared(std::uint32_t address) {
  asm volatile("st.release.cta.shared::cta.u32 [%0], 0;" ::"r"(address) : "memory");
}

}  // namespace pgas::detail

#endif
