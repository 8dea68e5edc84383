/// @file
/// What operations require of the types of their elements, on host and device, as concepts and as constants: rma_type,
/// amo_type, wait_type. This header includes no CUDA header and defines no state.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/compiler.hpp"
#include "pgas/detail/float16.hpp"

namespace pgas {

/// @brief Whether the bytes of a T may be copied to another PE: every trivially copyable object type.
///
/// (CUDA's packed 16-bit types count too, although CUDA does not declare them trivially copyable.)
template <class T>
inline constexpr bool is_rma_type =
    std::is_object_v<T> && !std::is_const_v<T> && (std::is_trivially_copyable_v<T> || is_float16_pair_type<T>);

/// @brief Integer types with the whole set of atomic operations: 4 and 8 bytes, signed and unsigned.
template <class T>
inline constexpr bool is_amo_integer =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && (sizeof(T) == 4 || sizeof(T) == 8);

/// @brief Types with all atomic operations except the bitwise ones: the integers, `float` and `double`.
template <class T>
inline constexpr bool is_amo_type = is_amo_integer<T> || std::is_same_v<T, float> || std::is_same_v<T, double>;

/// @brief Types with atomic fetch, set, swap and add: amo types, and 16-bit floating-point numbers, single or in pairs.
template <class T>
inline constexpr bool is_amo_add_type = is_amo_type<T> || is_float16_type<T> || is_float16_pair_type<T>;

/// @brief Types of words that waits and tests compare: integers of 2, 4 and 8 bytes.
template <class T>
inline constexpr bool is_wait_type = std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_const_v<T> &&
                                     (sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

#if __cpp_concepts >= 201907L  // the same as concepts
template <class T>
concept rma_type = is_rma_type<T>;
template <class T>
concept amo_integer = is_amo_integer<T>;
template <class T>
concept amo_type = is_amo_type<T>;
template <class T>
concept amo_add_type = is_amo_add_type<T>;
template <class T>
concept wait_type = is_wait_type<T>;
#endif

}  // namespace pgas

#include "pgas/detail/names_end.inc"
