/// @file
/// Accesses at the scope of one GPU, for communication among its blocks: PTX, and the equivalent C++ for CPUs, as in
/// `ptx_memory.hpp`. On the CPU there is one scope only.
#pragma once

#include "pgas/detail/isa/ptx_atomic.hpp"

namespace pgas::detail {

/// Orders all earlier accesses before all later accesses, as a release and as an acquire, for the blocks of one GPU.
PGAS_FN void fence_gpu() {
#if defined(__CUDACC__)
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
#else
  fence_release();
  fence_acquire();
#endif
}

/// Waits until the stream's earlier work is complete and visible. A kernel that the GPU can set up early calls this
/// function (`launch_attributes.hpp`). GPUs before sm_90 set up no kernel early.
PGAS_FN void wait_for_predecessor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Allows blocks of the stream's next kernel to become resident. These blocks become resident when each block of this
/// kernel has called this function or has ended.
PGAS_FN void trigger_successor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Strong load of a word that only this GPU writes.
[[nodiscard]] PGAS_FN std::uint64_t load_gpu(const std::uint64_t* p) {
#if defined(__CUDACC__)
  std::uint64_t v;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(global(p)) : "memory");
  return v;
#else
  return load_relaxed(p);
#endif
}

/// Strong store to a word that only this GPU reads.
PGAS_FN void store_gpu(std::uint64_t* p, std::uint64_t value) {
#if defined(__CUDACC__)
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(global(p)), "l"(value) : "memory");
#else
  store_relaxed(p, value);
#endif
}

/// Adds `value` and returns the old value. The access is relaxed.
[[nodiscard]] PGAS_FN std::uint64_t fetch_add_gpu(std::uint64_t* p, std::uint64_t value) {
#if defined(__CUDACC__)
  std::uint64_t old;
  asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(global(p)), "l"(value) : "memory");
  return old;
#else
  return fetch<rmw::add>(p, value);
#endif
}

}  // namespace pgas::detail
