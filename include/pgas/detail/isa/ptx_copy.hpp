/// @file
/// The memory accesses of copies: by threads, and by the GPU's copy unit (TMA). `weak` accesses are ordinary accesses
/// to data without races; fences make the data visible. No access is a `ld.global.nc`, because memory that a peer can
/// write during a kernel must not be read through the read-only path.
#pragma once

#include "pgas/detail/isa/ptx_address_space.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"

namespace pgas::detail {

/// The kind of memory that a copy accesses. `any`: everything that a generic pointer can point to, including shared and
/// local memory. The accesses are weak. `heap`: memory that other PEs write. Loads bypass the L1 cache, because stores
/// over NVLink don't update lines in L1.
enum class space { any, heap };

/// 16-byte load of bulk data; 16-byte aligned.
template <space Space>
[[nodiscard]] PGAS_FN vec16 load16(const void* p) {
  vec16 v;
#if defined(__CUDACC__)
  if constexpr (Space == space::any) {
    asm volatile("ld.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])
                 : "l"(p)
                 : "memory");
  } else {
    v = load_relaxed(static_cast<const vec16*>(p));
  }
#else
  __builtin_memcpy(&v, __builtin_assume_aligned(p, 16), sizeof v);
#endif
  return v;
}

/// Weak 16-byte store of bulk data; 16-byte aligned.
template <space Space>
PGAS_FN void store16(void* p, vec16 v) {
#if defined(__CUDACC__)
  if constexpr (Space == space::any) {
    asm volatile("st.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.w[0]), "r"(v.w[1]), "r"(v.w[2]), "r"(v.w[3])
                 : "memory");
  } else {
    asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(global(p)), "r"(v.w[0]), "r"(v.w[1]), "r"(v.w[2]),
                 "r"(v.w[3])
                 : "memory");
  }
#else
  tsan_note_data();
  __builtin_memcpy(__builtin_assume_aligned(p, 16), &v, sizeof v);
#endif
}

/// Weak load of 1, 2, 4 or 8 bytes, naturally aligned, from any memory.
template <std::size_t Bytes>
[[nodiscard]] PGAS_FN typename word<Bytes>::type load_weak(const void* p) {
  typename word<Bytes>::type v;
#if defined(__CUDACC__)
  if constexpr (Bytes == 1) {
    std::uint16_t wide;
    asm volatile("ld.u8 %0, [%1];" : "=h"(wide) : "l"(p) : "memory");
    v = static_cast<std::uint8_t>(wide);
  } else if constexpr (Bytes == 2) {
    asm volatile("ld.u16 %0, [%1];" : "=h"(v) : "l"(p) : "memory");
  } else if constexpr (Bytes == 4) {
    asm volatile("ld.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  } else {
    asm volatile("ld.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  }
#else
  __builtin_memcpy(&v, p, Bytes);
#endif
  return v;
}

/// Weak store of 1, 2, 4 or 8 bytes, naturally aligned.
template <std::size_t Bytes>
PGAS_FN void store_weak(void* p, typename word<Bytes>::type v) {
#if defined(__CUDACC__)
  if constexpr (Bytes == 1) {
    asm volatile("st.u8 [%0], %1;" ::"l"(p), "h"(std::uint16_t{v}) : "memory");
  } else if constexpr (Bytes == 2) {
    asm volatile("st.u16 [%0], %1;" ::"l"(p), "h"(v) : "memory");
  } else if constexpr (Bytes == 4) {
    asm volatile("st.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
  } else {
    asm volatile("st.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
  }
#else
  tsan_note_data();
  __builtin_memcpy(p, &v, Bytes);
#endif
}

/// The type of a register that holds one unit of a copy.
template <std::size_t Bytes>
using unit_word = std::conditional_t<Bytes == 16, vec16, typename word<Bytes == 16 ? 8 : Bytes>::type>;

/// Load of 1, 2, 4, 8 or 16 bytes of bulk data, naturally aligned.
template <space Space, std::size_t Bytes>
[[nodiscard]] PGAS_FN unit_word<Bytes> load_unit(const void* p) {
  if constexpr (Bytes == 16) {
    return load16<Space>(p);
  } else {
#if defined(__CUDACC__)
    if constexpr (Space == space::heap) return load_relaxed(static_cast<const typename word<Bytes>::type*>(p));
#endif
    return load_weak<Bytes>(p);
  }
}

/// Weak store of 1, 2, 4, 8 or 16 bytes, naturally aligned.
template <space Space, std::size_t Bytes, class Unit>
PGAS_FN void store_unit(void* p, Unit v) {
  if constexpr (Bytes == 16) {
    store16<Space>(p, v);
  } else {
    store_weak<Bytes>(p, v);
  }
}

/// Bits `bits` to `bits + 31` of the 64 bits in `high`:`low`. `bits` is below 32.
[[nodiscard]] PGAS_FN std::uint32_t funnel_shift(std::uint32_t low, std::uint32_t high, std::uint32_t bits) {
#if defined(__CUDACC__)
  return __funnelshift_r(low, high, bits);
#else
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> bits);
#endif
}

/// Prefetches the line of `p` into L1. The function is a hint, and has no effect on shared memory.
PGAS_FN void prefetch(const void* p) {
#if defined(__CUDACC__)
  asm volatile("prefetch.L1 [%0];" ::"l"(p));
#else
  __builtin_prefetch(p);
#endif
}

}  // namespace pgas::detail

// Asynchronous bulk copies by the GPU's copy unit (TMA). For sm_90 and newer only.
//
// The unit accesses memory through the *async proxy*: fence_proxy_async() makes earlier stores of threads visible to
// the unit. The other direction needs no fence: a thread that has seen the completion of a copy sees the data of the
// copy (PTX ISA, "Async proxy").
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define PGAS_HAS_BULK_COPIES 1

namespace pgas::detail {

/// The proxy fence of PTX. Orders earlier loads and stores (generic proxy) before the bulk copies that the caller
/// starts later (async proxy).
PGAS_FN void fence_proxy_async() { asm volatile("fence.proxy.async;" ::: "memory"); }
/// Like fence_proxy_async(), but only for accesses to this block's shared memory, or only for accesses to global
/// memory. fence_proxy_async() contains a MEMBAR at GPU scope. The two fences below, even together, do not contain a
/// MEMBAR.
PGAS_FN void fence_proxy_async_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
PGAS_FN void fence_proxy_async_global() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

/// Starts a copy of `bytes` bytes from global to shared memory. Both addresses and `bytes` are multiples of 16.
/// `barrier` counts the bytes as they arrive.
PGAS_FN void bulk_load(std::uint32_t to, const void* from, std::uint32_t bytes, std::uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(global_address(from)), "r"(bytes), "r"(barrier)
               : "memory");
}
/// Starts a copy from shared to global memory. bulk_commit() puts all copies that this thread has started since its
/// previous bulk_commit() into one group.
PGAS_FN void bulk_store(void* to, std::uint32_t from, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global_address(to)), "r"(from),
               "r"(bytes)
               : "memory");
}
PGAS_FN void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// Waits until all groups of this thread except the last `Pending` groups have read their source.
template <int Pending>
PGAS_FN void bulk_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}
/// Waits until all bulk stores of this thread are complete and visible to this thread.
PGAS_FN void bulk_stores_made() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

}  // namespace pgas::detail

#endif
