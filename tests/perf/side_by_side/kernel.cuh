/// @file
/// The loop that every timed kernel is.
#pragma once

#include "kernel_arguments.hpp"

namespace side_by_side {

__device__ inline unsigned long long now() {
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds)::"memory");
  return nanoseconds;
}

/// Where the words of get number i begin: in other lines each time, of 32 MiB. What was got before may still lie in L1,
/// where NVSHMEM finds it, and nothing would go over the link.
__device__ inline std::size_t window(const arguments& a, int i) {
  constexpr std::size_t reach = (std::size_t{32} << 20) / sizeof(std::uint64_t);
  constexpr std::size_t line = 128 / sizeof(std::uint64_t);
  const std::size_t step = a.words < line ? line : a.words;
  return static_cast<std::size_t>(i) % (reach / step) * step;
}

/// Calls body(i), with warm-up: the clock starts behind it and stops after finish(). No launch is in the time, nor that
/// peers' kernels start later.
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
