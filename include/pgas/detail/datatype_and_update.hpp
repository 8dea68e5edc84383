/// @file
/// Enumerations for the type of a word and for the update of an atomic operation. Templates pass these values to the
/// host library and to the proxy, which have no templates.
#pragma once

#include "pgas/detail/compiler.hpp"
#include "pgas/detail/float16.hpp"

namespace pgas::detail {

/// The type of a word.
enum class datatype : std::uint8_t { i16, u16, i32, u32, i64, u64, f32, f64, f16, bf16, f16x2, bf16x2 };

/// The update that an atomic operation applies to its word.
enum class atomic_update : std::uint8_t { fetch, set, add, bit_and, bit_or, bit_xor, min, max, swap, compare_swap };

/// The size of a word in bytes.
[[nodiscard]] PGAS_HD constexpr std::size_t size_of(datatype as) {
  switch (as) {
    case datatype::i16:
    case datatype::u16:
    case datatype::f16:
    case datatype::bf16: return 2;
    case datatype::i64:
    case datatype::u64:
    case datatype::f64: return 8;
    default: return 4;
  }
}

/// The datatype of `T`, a type that wait functions or atomic operations accept.
template <class T>
[[nodiscard]] PGAS_HD constexpr datatype datatype_for() {
  if constexpr (is_float16_type<T> || is_float16_pair_type<T>) {
    constexpr bool bfloat = float16_traits<T>::format == format16::bfloat;
    if constexpr (is_float16_type<T>)
      return bfloat ? datatype::bf16 : datatype::f16;
    else
      return bfloat ? datatype::bf16x2 : datatype::f16x2;
  } else if constexpr (std::is_same_v<T, float>) {
    return datatype::f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return datatype::f64;
  } else if constexpr (std::is_signed_v<T>) {
    return sizeof(T) == 2 ? datatype::i16 : sizeof(T) == 4 ? datatype::i32 : datatype::i64;
  } else {
    return sizeof(T) == 2 ? datatype::u16 : sizeof(T) == 4 ? datatype::u32 : datatype::u64;
  }
}

}  // namespace pgas::detail
