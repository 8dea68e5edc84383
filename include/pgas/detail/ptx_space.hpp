/// @file
/// Which memory an address belongs to. On a GPU that decides who else can reach it; on the CPU all memory is alike.
#pragma once

#include "pgas/detail/platform.hpp"

namespace pgas::detail {

/// Whether no other thread can address `p`: it points into this thread's stack.
[[nodiscard]] PGAS_FN bool is_private([[maybe_unused]] const void* p) {
#if defined(__CUDACC__)
  return __isLocal(p) != 0;
#else
  return false;
#endif
}

/// Whether others than the threads of this block can address `p`, the host's copies among them: not a stack, nor the
/// shared memory of a block, nor a kernel's arguments.
[[nodiscard]] PGAS_FN bool is_global([[maybe_unused]] const void* p) {
#if defined(__CUDACC__)
  // Not __isGlobal(): behind a cast of the pointer nvcc 12 makes broken code of it.
  std::uint32_t yes;
  asm("{ .reg .pred q; isspacep.global q, %1; selp.u32 %0, 1, 0, q; }" : "=r"(yes) : "l"(p));
  return yes != 0;
#else
  return true;
#endif
}

/// How large an array of its own a thread may have that it addresses at will. On GPUs such arrays are memory that is
/// set aside for all threads that can run at once, whether or not they come to use it.
#if defined(__CUDACC__)
inline constexpr std::size_t own_array_bytes = 16;
#else
inline constexpr std::size_t own_array_bytes = 1024;
#endif

}  // namespace pgas::detail
