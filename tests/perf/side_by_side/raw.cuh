/// @file
/// The operations of operations.cuh without a library, written by hand, on mapped memory.
#pragma once

#include "kernel_arguments.hpp"

namespace side_by_side::ops {

__device__ inline uint4 load_local(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from));
  return v;
}
/// Loads memory of another GPU. Does not read this GPU's L1 cache, which can contain old data.
__device__ inline uint4 load_there(const uint4* from) {
  uint4 v;
  asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
}
__device__ inline std::uint64_t load_relaxed(const std::uint64_t* from) {
  std::uint64_t v;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(from) : "memory");
  return v;
}
__device__ inline void store_relaxed(std::uint64_t* to, std::uint64_t value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
__device__ inline void store_release(std::uint64_t* to, std::uint64_t value) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
__device__ inline void acquire() { asm volatile("fence.acquire.sys;" ::: "memory"); }
__device__ inline void quiet() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

/// One thread's part of a copy. A thread copies 16 bytes at a time, and has `Unroll` of these accesses in flight at the
/// same time.
template <int Unroll, bool Remote>
__device__ void copy(std::uint64_t* to, const std::uint64_t* from, std::size_t words, unsigned rank, unsigned size) {
  auto* const out = reinterpret_cast<uint4*>(to);
  const auto* const in = reinterpret_cast<const uint4*>(from);
  const std::size_t vectors = words / 2;
  std::size_t i = rank;
  for (; i + (Unroll - 1) * static_cast<std::size_t>(size) < vectors; i += Unroll * static_cast<std::size_t>(size)) {
    uint4 v[Unroll];
#pragma unroll
    for (int u = 0; u < Unroll; ++u) v[u] = Remote ? load_there(in + i + u * size) : load_local(in + i + u * size);
#pragma unroll
    for (int u = 0; u < Unroll; ++u) out[i + u * size] = v[u];
  }
  for (; i < vectors; i += size) out[i] = Remote ? load_there(in + i) : load_local(in + i);
  if (rank == 0 && words % 2 == 1) to[words - 1] = Remote ? load_relaxed(from + words - 1) : from[words - 1];
}

__device__ inline void put_nbi_block(const arguments& a, std::size_t at, std::size_t words) {
  copy<4, false>(a.dest_there + at, a.source + at, words, threadIdx.x, blockDim.x);
}
__device__ inline void get_nbi_block(const arguments& a, std::size_t at, std::size_t words) {
  copy<8, true>(a.dest + at, a.source_there + at, words, threadIdx.x, blockDim.x);
}
__device__ inline void put_block(const arguments& a, std::size_t words) {
  put_nbi_block(a, 0, words);
  __syncthreads();
}
__device__ inline void get_block(const arguments& a, std::size_t at, std::size_t words) {
  get_nbi_block(a, at, words);
  __syncthreads();
}
__device__ inline void p(const arguments& a, std::size_t at, std::uint64_t value) { a.dest_there[at] = value; }
__device__ inline std::uint64_t g(const arguments& a, std::size_t at) { return load_relaxed(a.source_there + at); }

__device__ inline void signal(const arguments& a, std::uint64_t value) { store_relaxed(a.signal_there, value); }
__device__ inline void fence_and_signal(const arguments& a, std::uint64_t value) {
  store_release(a.signal_there, value);
}
__device__ inline void wait(const arguments& a, std::uint64_t value) {
  while (load_relaxed(a.signal) < value) {
  }
  acquire();
}
__device__ inline void put_signal(const arguments& a, std::size_t words, std::uint64_t value) {
  copy<16, false>(a.dest_there, a.source, words, 0, 1);
  store_release(a.signal_there, value);
}
__device__ inline void put_signal_block(const arguments& a, std::size_t words, std::uint64_t value) {
  put_nbi_block(a, 0, words);
  __syncthreads();
  if (threadIdx.x == 0) store_release(a.signal_there, value);
}

__device__ inline std::uint64_t fetch_add(const arguments& a, std::uint64_t value) {
  return atomicAdd_system(reinterpret_cast<unsigned long long*>(a.signal_there), value);
}
__device__ inline void inc(const arguments& a) {
  asm volatile("red.relaxed.sys.global.add.u64 [%0], 1;" ::"l"(a.signal_there) : "memory");
}

/// Each PE signals every other PE, in a separate word for each pair of PEs, and in different words each time.
template <bool Complete>
__device__ void signal_all(const arguments& a, std::uint64_t epoch, int rank, int size) {
  const std::size_t at = place(epoch);
  if (Complete && rank < a.n) quiet();
  for (int pe = rank; pe < a.n; pe += size) store_relaxed(a.signals_of[pe] + at + a.me, epoch);
  for (int pe = rank; pe < a.n; pe += size) {
    while (load_relaxed(a.signal + at + pe) < epoch) {
    }
  }
  acquire();
}
template <bool Complete, scope Scope>
__device__ void signal_all(const arguments& a, std::uint64_t epoch) {
  if (Scope == scope::block) __syncthreads();
  if (Scope == scope::warp) __syncwarp();
  if (Scope == scope::thread)
    signal_all<Complete>(a, epoch, 0, 1);
  else if (threadIdx.x < 32)
    signal_all<Complete>(a, epoch, static_cast<int>(threadIdx.x), 32);
  if (Scope == scope::warp) __syncwarp();
  if (Scope == scope::block) __syncthreads();
}
template <scope Scope>
__device__ void barrier_all(const arguments& a, std::uint64_t epoch) {
  signal_all<true, Scope>(a, epoch);
}
template <scope Scope>
__device__ void sync_all(const arguments& a, std::uint64_t epoch) {
  signal_all<false, Scope>(a, epoch);
}
__device__ inline void tell(const arguments& a, std::size_t at, std::uint64_t value, int pe) {
  store_relaxed(a.signals_of[pe] + at, value);
}

}  // namespace side_by_side::ops
