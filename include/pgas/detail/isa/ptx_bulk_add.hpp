/// @file
/// Additions to an array in global memory by the GPU's copy unit. For sm_90 and newer only.
#pragma once

#include "pgas/detail/isa/ptx_atomic.hpp"
#include "pgas/detail/isa/ptx_copy.hpp"

#if defined(PGAS_HAS_BULK_COPIES)

namespace pgas::detail {

/// The instruction's name for elements of an array of T. Pairs of 16-bit numbers count as two numbers.
template <class T>
struct bulk_add_name : operand_name<rmw::add, T> {};
template <>
struct bulk_add_name<float> {
  static constexpr char text[] = "f32";
};
template <>
struct bulk_add_name<double> {
  static constexpr char text[] = "f64";
};
template <>
struct bulk_add_name<float16> {
  static constexpr char text[] = "noftz.f16";
};
template <>
struct bulk_add_name<bfloat16> {
  static constexpr char text[] = "noftz.bf16";
};

/// The type whose name is used for T.
template <class T, int Numbers = float16_traits<T>::numbers>
struct bulk_add_element {
  using type = basic_float16<float16_traits<T>::format>;
};
template <class T>
struct bulk_add_element<T, 0> {
  using type = T;
};

/// Starts the addition of `bytes` bytes of T from shared to global memory. Both addresses and `bytes` are multiples of
/// 16.
template <class T>
PGAS_FN void bulk_add(void* to, std::uint32_t from, std::uint32_t bytes) {
  using name = bulk_add_name<typename bulk_add_element<T>::type>;
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.%3 [%0], [%1], %2;" ::"l"(global_address(to)),
               "r"(from), "r"(bytes), "C"(name::text)
               : "memory");
}

}  // namespace pgas::detail

#endif
