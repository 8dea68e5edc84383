/// @file
/// Functions that hide a value from the compiler's optimizer. The compiler then does not precompute multiples of the
/// value, which would occupy registers throughout a caller's loop. The functions generate no instruction.
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

/// Returns `p`. The compiler must load the object at `p` again.
template <class T>
[[nodiscard]] PGAS_FN T* opaque(T* p) {
#if defined(__CUDACC__)
  asm volatile("" : "+l"(p)::"memory");
#endif
  return p;
}

}  // namespace pgas::detail
