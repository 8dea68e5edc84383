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

/// The offset of the words of the i-th get. The offset moves through 32 MiB, so that each get reads different cache
/// lines. Otherwise NVSHMEM could find the words of an earlier get in L1, and no data would cross the link.
__device__ inline std::size_t window(const arguments& a, int i) {
  constexpr std::size_t reach = (std::size_t{32} << 20) / sizeof(std::uint64_t);
  constexpr std::size_t line = 128 / sizeof(std::uint64_t);
  const std::size_t step = a.words < line ? line : a.words;
  return static_cast<std::size_t>(i) % (reach / step) * step;
}

/// Calls body(i), with a warm-up. The clock starts after the warm-up and stops after finish(). The time includes
/// neither a launch nor the wait for peers' kernels that start late.
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
