/// @file
/// Types shared by host and device code: the element types of operations, comparisons, signals. No CUDA header, no
/// state.
#pragma once

#include "pgas/detail/compiler.hpp"
#include "pgas/detail/float16.hpp"

namespace pgas {

/// A type whose bytes may be copied to another PE: every trivially copyable object type. (CUDA's packed 16-bit types
/// are too, though not declared so.)
template <class T>
inline constexpr bool is_rma_type =
    std::is_object_v<T> && !std::is_const_v<T> && (std::is_trivially_copyable_v<T> || is_float16_pair_type<T>);

/// Integer types with the whole set of atomic operations: 4 and 8 bytes, signed and unsigned.
template <class T>
inline constexpr bool is_amo_integer =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && (sizeof(T) == 4 || sizeof(T) == 8);

/// Types with all atomic operations but the bitwise: the integers, `float` and `double`.
template <class T>
inline constexpr bool is_amo_type = is_amo_integer<T> || std::is_same_v<T, float> || std::is_same_v<T, double>;

/// Types with atomic fetch, set and add: amo types, and 16-bit floating-point numbers, single or in pairs.
template <class T>
inline constexpr bool is_amo_add_type = is_amo_type<T> || is_float16_type<T> || is_float16_pair_type<T>;

/// Types of words that waits and tests compare: integers of 2, 4 and 8 bytes.
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

/// How a wait or a test compares the word with the given value: `seen cmp value`.
enum class cmp : std::int32_t { eq = 0, ne = 1, gt = 2, le = 3, lt = 4, ge = 5 };

/// The update of the signal word by put_signal, after its data has arrived.
enum class signal_op : std::int32_t { set = 9, add = 10 };

/// The type of a signal word in the symmetric heap.
using signal_t = std::uint64_t;

namespace detail {

/// `seen op value`, the same for waits and tests of host and device.
template <class T>
[[nodiscard]] PGAS_HD constexpr bool compare(T seen, cmp op, T value) {
  switch (op) {
    case cmp::eq: return seen == value;
    case cmp::ne: return seen != value;
    case cmp::gt: return seen > value;
    case cmp::le: return seen <= value;
    case cmp::lt: return seen < value;
    case cmp::ge: return seen >= value;
  }
  return false;
}

}  // namespace detail
}  // namespace pgas
