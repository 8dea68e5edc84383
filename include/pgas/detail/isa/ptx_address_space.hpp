/// @file
/// Which memory an address belongs to, and addresses within one kind. On a GPU that decides who else can reach it; on
/// the CPU all memory is alike.
/// (By hand: of __isLocal() and the like nvcc makes broken code where the pointer has been cast.)
#pragma once

#include "pgas/detail/compiler.hpp"

namespace pgas::detail {

/// Whether no other thread can address `p`: it points into this thread's stack.
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

/// Whether the host and the GPU's copy unit can access `p`: not a stack, nor shared memory, nor constants, nor a
/// kernel's arguments, whose window lies in the .global one.
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
/// Operands of instructions on the .shared and the .global window, for pointers that only the program knows to point
/// there. Not by __cvta_generic_to_*(): nvcc makes broken addresses of it where a pointer turns out to be another one
/// on a path that is never taken.
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

/// `Bytes` bytes of shared memory, the same on all threads of the block and wherever it is called; null on the CPU.
template <std::size_t Bytes>
[[nodiscard]] PGAS_FN std::byte* block_memory() {
#if defined(__CUDACC__)
  __shared__ alignas(128) std::byte room[Bytes];
  return room;
#else
  return nullptr;
#endif
}

/// How large an array of its own a thread may have that it indexes at will. On GPUs such arrays are memory that is
/// reserved for all threads that can run at once, whether they use it or not.
#if defined(__CUDACC__)
inline constexpr std::size_t own_array_bytes = 16;
#else
inline constexpr std::size_t own_array_bytes = 1024;
#endif

}  // namespace pgas::detail
