/// @file
/// The operations of rows that are also measured without a library: NVSHMEM's operations, or with RAW the operations of
/// raw.cuh. All offsets and lengths are in words of 8 bytes.
#pragma once

#include "kernel_arguments.hpp"

namespace side_by_side {

/// The group of threads that calls a barrier.
enum class scope { thread, warp, block };

}  // namespace side_by_side

#if defined(RAW)
#include "raw.cuh"
#else

#include <nvshmem.h>
#include <nvshmemx.h>

namespace side_by_side::ops {

__device__ inline void put_nbi_block(const arguments& a, std::size_t at, std::size_t words) {
  nvshmemx_uint64_put_nbi_block(a.dest + at, a.source + at, words, a.peer);
}
__device__ inline void get_nbi_block(const arguments& a, std::size_t at, std::size_t words) {
  nvshmemx_uint64_get_nbi_block(a.dest + at, a.source + at, words, a.peer);
}
__device__ inline void put_block(const arguments& a, std::size_t words) {
  nvshmemx_uint64_put_block(a.dest, a.source, words, a.peer);
}
__device__ inline void get_block(const arguments& a, std::size_t at, std::size_t words) {
  nvshmemx_uint64_get_block(a.dest + at, a.source + at, words, a.peer);
}
__device__ inline void p(const arguments& a, std::size_t at, std::uint64_t value) {
  nvshmem_uint64_p(a.dest + at, value, a.peer);
}
__device__ inline std::uint64_t g(const arguments& a, std::size_t at) {
  return nvshmem_uint64_g(a.source + at, a.peer);
}
__device__ inline void quiet() { nvshmem_quiet(); }

/// Sets the peer's signal, without data.
__device__ inline void signal(const arguments& a, std::uint64_t value) {
  nvshmemx_signal_op(a.signal, value, NVSHMEM_SIGNAL_SET, a.peer);
}
/// Sets the peer's signal after all puts of this thread, and after the puts that a barrier of the block has ordered
/// before this call.
__device__ inline void fence_and_signal(const arguments& a, std::uint64_t value) {
  nvshmem_fence();
  nvshmemx_signal_op(a.signal, value, NVSHMEM_SIGNAL_SET, a.peer);
}
__device__ inline void wait(const arguments& a, std::uint64_t value) {
  nvshmem_signal_wait_until(a.signal, NVSHMEM_CMP_GE, value);
}
__device__ inline void put_signal(const arguments& a, std::size_t words, std::uint64_t value) {
  nvshmem_uint64_put_signal(a.dest, a.source, words, a.signal, value, NVSHMEM_SIGNAL_SET, a.peer);
}
__device__ inline void put_signal_block(const arguments& a, std::size_t words, std::uint64_t value) {
  nvshmemx_uint64_put_signal_block(a.dest, a.source, words, a.signal, value, NVSHMEM_SIGNAL_SET, a.peer);
}

/// Adds to the peer's signal.
__device__ inline std::uint64_t fetch_add(const arguments& a, std::uint64_t value) {
  return nvshmem_uint64_atomic_fetch_add(a.signal, value, a.peer);
}
__device__ inline void inc(const arguments& a) { nvshmem_uint64_atomic_inc(a.signal, a.peer); }

/// Executes barrier or sync number `epoch`. A library counts its barriers and syncs itself, and ignores the number. A
/// barrier completes earlier puts; a sync does not.
template <scope Scope>
__device__ void barrier_all(const arguments&, std::uint64_t) {
  if constexpr (Scope == scope::thread) nvshmem_barrier_all();
  if constexpr (Scope == scope::warp) nvshmemx_barrier_all_warp();
  if constexpr (Scope == scope::block) nvshmemx_barrier_all_block();
}
template <scope Scope>
__device__ void sync_all(const arguments&, std::uint64_t) {
  if constexpr (Scope == scope::thread) nvshmem_sync_all();
  if constexpr (Scope == scope::warp) nvshmemx_sync_all_warp();
  if constexpr (Scope == scope::block) nvshmemx_sync_all_block();
}
/// Writes one word to signal[at] of any PE.
__device__ inline void tell(const arguments& a, std::size_t at, std::uint64_t value, int pe) {
  nvshmem_uint64_p(a.signal + at, value, pe);
}

}  // namespace side_by_side::ops

#endif
