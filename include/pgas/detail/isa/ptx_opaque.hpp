/// @file
/// Values from which the compiler precomputes nothing, so it keeps no multiples of them in registers throughout a
/// caller's loop. The functions generate no instruction.
#pragma once

#include "pgas/detail/compiler.hpp"

namespace pgas::detail {

/// Returns `value`.
[[nodiscard]] PGAS_FN std::uint32_t opaque(std::uint32_t value) {
#if defined(__CUDACC__)
  asm volatile("" : "+r"(value));
#endif
  return value;
}

/// Returns `p`. The compiler loads the object at `p` again.
template <class T>
[[nodiscard]] PGAS_FN T* opaque(T* p) {
#if defined(__CUDACC__)
  asm volatile("" : "+l"(p)::"memory");
#endif
  return p;
}

}  // namespace pgas::detail
