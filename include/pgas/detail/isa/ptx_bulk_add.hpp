/// @file
/// Additions to an array in global memory by the GPU's copy unit. For sm_90 and newer only.
#pragma once

#include "pgas/detail/isa/ptx_atomic.hpp"
#include "pgas/detail/isa/ptx_copy.hpp"

#if defined(PGAS_HAS_BULK_COPIES)

namespace pgas::detail {

/// Starts the addition of `bytes` bytes of T from shared to global memory. Both addresses and `bytes` are multiples of
/// 16. In a pair of 16-bit numbers, each number is added separately.
template <class T>
PGAS_FN void bulk_add(void* to, std::uint32_t from, std::uint32_t bytes) {
  const std::size_t at = global_address(to);
  if constexpr (std::is_same_v<T, float>) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(at), "r"(from),
                 "r"(bytes)
                 : "memory");
  } else if constexpr (std::is_same_v<T, double>) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f64 [%0], [%1], %2;" ::"l"(at), "r"(from),
                 "r"(bytes)
                 : "memory");
  } else if constexpr (!is_float16<T>) {
    if constexpr (sizeof(T) == 4)
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(at), "r"(from),
                   "r"(bytes)
                   : "memory");
    if constexpr (sizeof(T) == 8)
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%0], [%1], %2;" ::"l"(at), "r"(from),
                   "r"(bytes)
                   : "memory");
  } else if constexpr (float16_traits<T>::format == format16::binary16) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%0], [%1], %2;" ::"l"(at),
                 "r"(from), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%0], [%1], %2;" ::"l"(at),
                 "r"(from), "r"(bytes)
                 : "memory");
  }
}

}  // namespace pgas::detail

#endif
