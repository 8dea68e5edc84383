/// @file
/// The kind of memory that an address belongs to, and addresses within one kind of memory. On a GPU the kind decides
/// which other threads and devices can access the memory; on the CPU there is one kind. (The functions use PTX, because
/// nvcc generates broken code for __isLocal() and similar functions if the pointer has been cast.)
#pragma once

#include "pgas/detail/compiler.hpp"

namespace pgas::detail {

/// Whether `p` points into this thread's stack, which no other thread can address.
[[nodiscard]] PGAS_FN bool is_private([[maybe_unused]] const void* p) {
  std::uint32_t yes = 0;
#if defined(__CUDACC__)
  asm("{ .reg .pred q; isspacep.local q, %1; selp.u32 %0, 1, 0, q; }" : "=r"(yes) : "l"(p));
#endif
  return yes != 0;
}

/// Whether `p` points into the shared memory of the block.
[[nodiscard]] PGAS_FN bool is_shared([[maybe_unused]] const void* p) {
  std::uint32_t yes = 0;
#if defined(__CUDACC__)
  asm("{ .reg .pred q; isspacep.shared q, %1; selp.u32 %0, 1, 0, q; }" : "=r"(yes) : "l"(p));
#endif
  return yes != 0;
}

/// Whether the host and the GPU's copy unit can access `p`. The host and the copy unit can't access a thread's stack,
/// shared memory, constants or a kernel's arguments. The window of the arguments is inside the .global window, so this
/// function tests for arguments separately.
[[nodiscard]] PGAS_FN bool is_global([[maybe_unused]] const void* p) {
  std::uint32_t yes = 1;
#if defined(__CUDACC__)
  std::uint32_t fixed = 0;
  asm("{ .reg .pred q; isspacep.global q, %1; selp.u32 %0, 1, 0, q; }" : "=r"(yes) : "l"(p));
  asm("{ .reg .pred q, r; isspacep.const q, %1; isspacep.param::entry r, %1; or.pred q, q, r; selp.u32 %0, 1, 0, q; }"
      : "=r"(fixed)
      : "l"(p));
  return yes != 0 && fixed == 0;
#endif
  return yes != 0;
}

#if defined(__CUDA_ARCH__)
/// Converts pointers that are known to point into the .shared or the .global window to operands of instructions. The
/// functions do not call __cvta_generic_to_*(), because nvcc then generates broken addresses if the pointer has another
/// value on a path that is never taken.
[[nodiscard]] PGAS_FN std::uint32_t shared_address(const void* p) {
  std::uint64_t address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(p));
  return static_cast<std::uint32_t>(address);
}
[[nodiscard]] PGAS_FN std::uint64_t global_address(const void* p) {
  std::uint64_t address;
  asm("cvta.to.global.u64 %0, %1;" : "=l"(address) : "l"(p));
  return address;
}
#endif

/// `Bytes` bytes of shared memory, the same memory for all threads of the block and all callers; null on the CPU.
template <std::size_t Bytes>
[[nodiscard]] PGAS_FN std::byte* block_memory() {
#if defined(__CUDACC__)
  alignas(128) __shared__ std::byte room[Bytes];  // both nvcc and Clang accept this order of specifiers
  return room;
#else
  return nullptr;
#endif
}

/// The maximum size of a thread's own array with dynamic indices. A GPU reserves memory for such an array for every
/// resident thread, even if the array is not used.
#if defined(__CUDACC__)
inline constexpr std::size_t own_array_bytes = 16;
#else
inline constexpr std::size_t own_array_bytes = 1024;
#endif

}  // namespace pgas::detail
