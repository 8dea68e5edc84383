/// @file
/// The loop of every timed kernel.
#pragma once

#include "kernel_arguments.hpp"

namespace side_by_side {

__device__ inline unsigned long long now() {
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds)::"memory");
  return nanoseconds;
}

/// The start of the words of the i-th get. It moves through 32 MiB, so that each get reads other cache lines. Words of
/// an earlier get may still be in L1, where NVSHMEM would find them, and then no data would cross the link.
__device__ inline std::size_t window(const arguments& a, int i) {
  constexpr std::size_t reach = (std::size_t{32} << 20) / sizeof(std::uint64_t);
  constexpr std::size_t line = 128 / sizeof(std::uint64_t);
  const std::size_t step = a.words < line ? line : a.words;
  return static_cast<std::size_t>(i) % (reach / step) * step;
}

/// Calls body(i), with a warm-up. The clock starts after the warm-up and stops after finish(). The time contains
/// neither a launch nor a late start of peers' kernels.
template <class Body, class Finish>
__device__ void repeat(const arguments& a, Body body, Finish finish) {
  unsigned long long start = 0;
  const int all = a.warm_up + a.iterations;
#pragma unroll 1
  for (int i = 0; i < all; ++i) {
    if (i == a.warm_up) start = now();
    body(i);
  }
  finish();
  if (threadIdx.x == 0) a.times[blockIdx.x] = {start, now()};
}

template <class Body>
__device__ void repeat(const arguments& a, Body body) {
  repeat(a, body, [] {});
}

}  // namespace side_by_side
