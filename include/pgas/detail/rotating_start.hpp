/// @file
/// The start of a search among equals: another one each time, so that none is starved.
#pragma once

#include "pgas/detail/compiler.hpp"

namespace pgas::detail {

/// A number that the calling thread has not had before.
[[nodiscard]] PGAS_FN std::uint64_t new_number() {
#if defined(__CUDACC__)
  return static_cast<std::uint64_t>(clock64());
#else
  thread_local std::uint64_t last = 0;
  return ++last;
#endif
}

/// A number below `count`; 0 where that is 0. Scattered, so that calls at a regular pace, or of several searches in
/// turn, reach every number as well.
[[nodiscard]] PGAS_FN std::size_t anywhere_below(std::size_t count) {
  std::uint64_t bits = new_number() * 0x9e3779b97f4a7c15u;
  bits = (bits ^ bits >> 32) * 0xff51afd7ed558ccdu;
#if defined(__CUDACC__)
  return __umul64hi(bits, count);
#else
  return count == 0 ? 0 : (bits ^ bits >> 32) % count;
#endif
}

}  // namespace pgas::detail
