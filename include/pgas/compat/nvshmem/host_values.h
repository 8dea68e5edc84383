/// @file
/// Conversions between typed arguments and the untyped entries of host_abi.h. Host side, C++17.
#pragma once

#include <string.h>

#include <type_traits>

#include "pgas/compat/nvshmem/host_abi.h"
#include "pgas/compat/nvshmem/types.h"

namespace pgas::compat {

/// The number of a type.
template <class T>
constexpr number number_of() {
  if constexpr (std::is_same_v<T, ::half>)
    return number::f16;
  else if constexpr (std::is_same_v<T, ::__nv_bfloat16>)
    return number::bf16;
  else if constexpr (std::is_same_v<T, float>)
    return number::f32;
  else if constexpr (std::is_same_v<T, double>)
    return number::f64;
  else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? number::i8 : number::u8;
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? number::i16 : number::u16;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? number::i32 : number::u32;
  else
    return std::is_signed_v<T> ? number::i64 : number::u64;
}

/// The bits of a value in the low bytes of a word, and back.
template <class T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T value_of(uint64_t bits) {
  T value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/// An atomic operation; returns the previous value.
template <class T>
T atomic(update how, const T* target, int pe, T value = T{}, T condition = T{},
         const char* function = __builtin_FUNCTION()) {
  return value_of<T>(
      pgas_nvshmem_atomic(how, number_of<T>(), target, bits_of(value), bits_of(condition), pe, function));
}

/// The value that PE `pe` has at `src`.
template <class T>
T read(when when, const T* src, int pe) {
  T value;
  pgas_nvshmem_g(when, &value, src, sizeof value, pe);
  return value;
}

/// Words that are compared with one value, or with a value for each.
template <class T>
words words_of(const T* at, size_t count, const int* status, int cmp, T value,
               const char* function = __builtin_FUNCTION()) {
  return {number_of<T>(), at, count, status, cmp, bits_of(value), nullptr, function};
}
template <class T>
words words_of(const T* at, size_t count, const int* status, int cmp, const T* values,
               const char* function = __builtin_FUNCTION()) {
  return {number_of<T>(), at, count, status, cmp, 0, values, function};
}

/// A collective that moves elements, and one that combines them.
template <class T>
int move(when when, collective what, int team, T* dst, const T* src, size_t count, int root = 0) {
  const collective_call call{what, team, dst, src, count, sizeof(T), root, number_of<T>(), reduction::sum};
  return pgas_nvshmem_collective(when, &call);
}
inline int move(when when, collective what, int team, void* dst, const void* src, size_t bytes, int root = 0) {
  return move(when, what, team, static_cast<char*>(dst), static_cast<const char*>(src), bytes, root);
}
template <class T>
int combine(when when, collective what, reduction op, int team, T* dst, const T* src, size_t count) {
  const collective_call call{what, team, dst, src, count, sizeof(T), 0, number_of<T>(), op};
  return pgas_nvshmem_collective(when, &call);
}
/// A collective that moves nothing.
inline int synchronize(when when, collective what, int team) {
  const collective_call call{what, team, nullptr, nullptr, 0, 1, 0, number::u8, reduction::sum};
  return pgas_nvshmem_collective(when, &call);
}

}  // namespace pgas::compat
