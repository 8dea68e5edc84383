/// @file
/// Single values of any trivially copyable type as strong accesses: whole where the type is a machine word, else in the
/// largest pieces that its alignment allows. Used by p() and g().
#pragma once

#include "pgas/detail/isa/ptx.hpp"

namespace pgas::detail {

/// The piece that a value of type T moves in: its largest power of two that divides size and alignment, up to 16 bytes.
template <class T>
inline constexpr std::size_t piece_of = alignof(T) < 16 ? alignof(T) : 16;

template <class T>
inline constexpr bool is_word = piece_of<T> == sizeof(T) && sizeof(T) <= 8;

/// `sizeof(T)` bytes as an array of pieces.
template <class T>
struct pieces {
  using type = std::conditional_t<piece_of<T> == 16, vec16, typename word<piece_of<T> == 16 ? 8 : piece_of<T>>::type>;
  static constexpr std::size_t count = sizeof(T) / piece_of<T>;
  type at[count];
};

template <class T>
PGAS_FN void store_value(T* p, T value) {
  if constexpr (is_word<T>) {
    store_relaxed(p, value);
  } else {
    const auto all = bits_as<pieces<T>>(value);
    auto* const to = reinterpret_cast<typename pieces<T>::type*>(p);
    PGAS_UNROLL
    for (std::size_t i = 0; i < pieces<T>::count; ++i) store_relaxed(to + i, all.at[i]);
  }
}

template <class T>
[[nodiscard]] PGAS_FN T load_value(const T* p) {
  if constexpr (is_word<T>) {
    return load_relaxed(p);
  } else {
    pieces<T> all;
    const auto* const from = reinterpret_cast<const typename pieces<T>::type*>(p);
    PGAS_UNROLL
    for (std::size_t i = 0; i < pieces<T>::count; ++i) all.at[i] = load_relaxed(from + i);
    return bits_as<T>(all);
  }
}

}  // namespace pgas::detail
