/// @file
/// Types and atomic operations as values, for operations that the host library carries out for its templates.
#pragma once

#include "pgas/detail/float16.hpp"
#include "pgas/detail/platform.hpp"

namespace pgas::detail {

/// What the bits of a word mean.
enum class word_kind : std::uint8_t { i16, u16, i32, u32, i64, u64, f32, f64, f16, bf16, f16x2, bf16x2 };

/// What an atomic operation does to its word.
enum class atomic_update : std::uint8_t { fetch, set, add, bit_and, bit_or, bit_xor, min, max, swap, compare_swap };

/// Bytes of a word.
[[nodiscard]] PGAS_HD constexpr std::size_t size_of(word_kind as) {
  switch (as) {
    case word_kind::i16:
    case word_kind::u16:
    case word_kind::f16:
    case word_kind::bf16: return 2;
    case word_kind::i64:
    case word_kind::u64:
    case word_kind::f64: return 8;
    default: return 4;
  }
}

/// The kind of a type that waits or atomic operations take.
template <class T>
[[nodiscard]] PGAS_HD constexpr word_kind word_kind_of() {
  if constexpr (is_float16_type<T> || is_float16_pair_type<T>) {
    constexpr bool bfloat = float16_traits<T>::format == format16::bfloat;
    if constexpr (is_float16_type<T>) return bfloat ? word_kind::bf16 : word_kind::f16;
    else return bfloat ? word_kind::bf16x2 : word_kind::f16x2;
  } else if constexpr (std::is_same_v<T, float>) {
    return word_kind::f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return word_kind::f64;
  } else if constexpr (std::is_signed_v<T>) {
    return sizeof(T) == 2 ? word_kind::i16 : sizeof(T) == 4 ? word_kind::i32 : word_kind::i64;
  } else {
    return sizeof(T) == 2 ? word_kind::u16 : sizeof(T) == 4 ? word_kind::u32 : word_kind::u64;
  }
}

}  // namespace pgas::detail
