/// @file
/// The form in which the host requests a collective from a backend, and the numbers of C++ types in a request. Used by
/// the host library, the backends and the host's templates (pgas/collective.hpp).
#pragma once

#include "pgas/device/reduce_op.hpp"

namespace pgas::detail {

enum class collective_kind : std::uint8_t {
  barrier,
  sync,
  word_barrier,  ///< a barrier that uses words of the caller, or half of such a barrier
  broadcast,
  fcollect,
  collect,
  alltoall,
  alltoalls,
  reduce,
  reduce_to_root,
  reduce_scatter,
  inclusive_scan,
  exclusive_scan,
};

/// The operation of a reduction: the operations of pgas::op, with the same numbers.
enum class reduction : std::uint8_t { none = 0, sum, prod, min, max, bit_and, bit_or, bit_xor, maxloc, minloc };

/// The element type of a reduction. Operations that ignore signs receive signed integers as unsigned integers.
enum class number_type : std::uint8_t {
  none,
  u8,
  u16,
  u32,
  u64,
  i8,
  i16,
  i32,
  i64,
  f16,
  bf16,
  f32,
  f64,
  complex_f32,
  complex_f64,
  indexed_i32,  ///< this and the following types: a number with an index of equal size
  indexed_i64,
  indexed_f32,
  indexed_f64,
};

/// A collective that a backend executes.
struct collective_request {
  collective_kind what = collective_kind::barrier;
  reduction op = reduction::none;
  number_type type = number_type::none;
  std::uint8_t alignment = 1;  ///< alignment of dst and src, 1 to 8 bytes
  std::int32_t root = 0;  ///< root of the collective; for `word_barrier`, the awaited member, or -1 for all members
  std::uint32_t most_blocks = 1;  ///< the maximum number of blocks, equal on all members; the library sets it
  std::size_t element_bytes = 0;
  std::size_t count = 0;          ///< elements
  std::ptrdiff_t dst_stride = 1;  ///< elements
  std::ptrdiff_t src_stride = 1;
  void* dst = nullptr;
  const void* src = nullptr;
  std::uint32_t limit_ms = 0;  ///< limit of `word_barrier`; 0: PGAS_WAIT_TIMEOUT
};

/// The number_type of an integer type, by its width.
template <PGAS_IS(reduce_integer) T>
[[nodiscard]] PGAS_HD constexpr number_type integer_type(bool with_sign) {
  constexpr int by_width = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return static_cast<number_type>(static_cast<int>(with_sign ? number_type::i8 : number_type::u8) + by_width);
}

/// The number_type of a pair; none if the library has no kernel for the pair.
template <class T, class = void>
struct pair_type {
  static constexpr number_type value = number_type::none;
};
template <class T, class I>
struct pair_type<indexed<T, I>, std::enable_if_t<is_reduce_ordered<T> && is_reduce_integer<I> && std::is_signed_v<T> &&
                                                 std::is_signed_v<I> && sizeof(T) == sizeof(I) && sizeof(T) >= 4>> {
  static constexpr number_type value = std::is_integral_v<T>
                                           ? (sizeof(T) == 4 ? number_type::indexed_i32 : number_type::indexed_i64)
                                           : (sizeof(T) == 4 ? number_type::indexed_f32 : number_type::indexed_f64);
};

/// The number_type of elements of type T in a request for `Op`.
template <class Op, class T>
[[nodiscard]] PGAS_HD constexpr number_type number_of() {
  if constexpr (is_reduce_integer<T>) {
    return integer_type<T>(std::is_signed_v<T> && (std::is_same_v<Op, op::min> || std::is_same_v<Op, op::max>));
  } else if constexpr (is_float16_type<T>) {
    return float16_traits<T>::format == format16::bfloat ? number_type::bf16 : number_type::f16;
  } else if constexpr (is_reduce_ordered<T>) {
    return sizeof(T) == 4 ? number_type::f32 : number_type::f64;
  } else if constexpr (is_complex_type<T>) {
    return sizeof(T) == 8 ? number_type::complex_f32 : number_type::complex_f64;
  } else {
    return pair_type<T>::value;
  }
}

/// Whether the library has a kernel for the operation and the type.
template <class Op, class T>
inline constexpr bool library_reduction = (library_op<Op> && is_reduce_op<Op, T> &&
                                           number_of<Op, T>() != number_type::none);

}  // namespace pgas::detail
