/// @file
/// The accesses of copies. `weak` ones are ordinary: race-free data, made visible by fences. Nothing here is a
/// `ld.global.nc`: memory that a peer may write during a kernel must not go through the read-only path.
#pragma once

#include "pgas/detail/isa/ptx.hpp"

namespace pgas::detail {

/// The memory that an access of a copy may touch. `any`: everything a generic pointer may point to, shared and local
/// memory included; weak accesses. `heap`: memory that other PEs write. Loads see its contents, never L1's copy, which
/// stores over NVLink don't change.
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

/// Weak load of 1, 2, 4 or 8 bytes, naturally aligned, from wherever `p` points.
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

/// What a unit of a copy is in registers.
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

/// Bits `bits`..`bits + 31` of the 64 in `high`:`low`. `bits` is below 32.
[[nodiscard]] PGAS_FN std::uint32_t funnel_shift(std::uint32_t low, std::uint32_t high, std::uint32_t bits) {
#if defined(__CUDACC__)
  return __funnelshift_r(low, high, bits);
#else
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> bits);
#endif
}

/// Asks for the line of `p` to be brought to L1. A hint: no effect on meaning, none at all on shared memory.
PGAS_FN void prefetch(const void* p) {
#if defined(__CUDACC__)
  asm volatile("prefetch.L1 [%0];" ::"l"(p));
#else
  __builtin_prefetch(p);
#endif
}

}  // namespace pgas::detail
