/// @file
/// The memory of a party, and how the party reads, writes and copies it: host memory with g++, GPU memory with nvcc.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "pgas/shared_memory.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

namespace party {

#if defined(__CUDACC__)

inline void check(cudaError_t result) {
  if (result == cudaSuccess) return;
  std::printf("cuda %s\n", cudaGetErrorName(result));
  std::fflush(stdout);
  std::exit(3);
}

inline constexpr pgas::memory_place place = pgas::memory_place::gpu(0);

inline void copy(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
  check(cudaDeviceSynchronize());
}

inline __global__ void poke(unsigned* at, unsigned value) { *at = value; }

/// Writes by a kernel, so that the protection of the mapping applies.
inline void write(void* at, unsigned value) {
  poke<<<1, 1>>>(static_cast<unsigned*>(at), value);
  check(cudaDeviceSynchronize());
}

/// The number, in this process, of the GPU that has the memory.
inline int gpu_of(const void* memory) {
  cudaPointerAttributes about{};
  check(cudaPointerGetAttributes(&about, memory));
  return about.device;
}
/// Selects the GPU for the kernels of write().
inline void use(int ordinal) { check(cudaSetDevice(ordinal)); }

inline void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes));
  return memory;
}

#else

inline constexpr pgas::memory_place place = pgas::memory_place::host();
inline void copy(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
inline void write(void* at, unsigned value) { *static_cast<volatile unsigned*>(at) = value; }
inline int gpu_of(const void*) { return -1; }
inline void use(int) {}
inline void* allocate(std::size_t bytes) {
  static std::vector<pgas::shared_memory> kept;
  kept.push_back(pgas::shared_memory::make(place, bytes));
  return kept.back().data();
}

#endif

inline unsigned read(const void* at) {
  unsigned value = 0;
  copy(&value, at, sizeof value);
  return value;
}

/// The time of `work` in microseconds.
template <class Work>
double time(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace party
