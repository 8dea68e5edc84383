/// @file
/// The operations of reductions and scans: function objects, usable on the host and on the device. Programs may define
/// their own operations (reduce_op has the requirements).
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/number_traits.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {
namespace detail {

template <class Op, class A>
using identity_call = std::enable_if_t<std::is_convertible_v<decltype(some<Op>().template identity<A>()), A>>;

/// Numbers that can be added and multiplied.
template <class T>
inline constexpr bool arithmetic = is_reduce_ordered<T> || is_complex_type<T> || is_two_reals<T>::value;

}  // namespace detail

/// @brief Whether Op is a function object that combines elements of type T. In `op(a, b)`, `a` comes from members with
/// lower numbers.
///
/// The operation must be associative, and need not be commutative. If Op accepts `float`, it receives 16-bit floats as
/// `float`. Elements are trivially copyable and default constructible.
template <class Op, class T>
inline constexpr bool is_reduce_op = (is_rma_type<T> && std::is_trivially_copyable_v<Op> &&
                                      std::is_default_constructible_v<T> &&
                                      detail::reduces<Op, detail::accumulator_of<Op, T>>);

/// @brief Whether Op also has a neutral element, `Op::template identity<T>()`: the start value of exclusive scans.
template <class Op, class T>
inline constexpr bool is_scan_op = (is_reduce_op<Op, T> &&
                                    detail::valid<detail::identity_call, Op, detail::accumulator_of<Op, T>>);

#if __cpp_concepts >= 201907L  // the same as concepts
template <class Op, class T>
concept reduce_op = is_reduce_op<Op, T>;
template <class Op, class T>
concept scan_op = is_scan_op<Op, T>;
#endif

/// The operations. Each operation has a number, a call operator that combines two values, and a neutral element. With
/// checks on, collectives compare the numbers of the operations.
namespace op {

/// @brief Sum: a + b.
///
/// Integers wrap around.
///
/// *Units* integers, float, double, 16-bit floats (added up as floats), complex numbers.
struct sum {
  static constexpr std::uint32_t id = 1;
  template <class T>
  [[nodiscard]] PGAS_HD std::enable_if_t<detail::arithmetic<T>, T> operator()(const T& a, const T& b) const {
    if constexpr (is_reduce_integer<T>) {
      return static_cast<T>(static_cast<detail::wrapping<T>>(a) + static_cast<detail::wrapping<T>>(b));
    } else if constexpr (is_complex_type<T>) {
      using parts = detail::two_reals<typename T::value_type>;
      return detail::bits_as<T>((*this)(detail::bits_as<parts>(a), detail::bits_as<parts>(b)));
    } else if constexpr (detail::is_two_reals<T>::value) {
      return {a.re + b.re, a.im + b.im};
    } else {
      return a + b;
    }
  }
  template <class T>
  [[nodiscard]] PGAS_HD static T identity() {
    return T{};
  }
};

/// @brief Product: a * b.
///
/// *Units* as for sum. Complex products are (ac - bd, ad + bc), without special cases for infinities.
struct prod {
  static constexpr std::uint32_t id = 2;
  template <class T>
  [[nodiscard]] PGAS_HD std::enable_if_t<detail::arithmetic<T>, T> operator()(const T& a, const T& b) const {
    if constexpr (is_reduce_integer<T>) {
      return static_cast<T>(static_cast<detail::wrapping<T>>(a) * static_cast<detail::wrapping<T>>(b));
    } else if constexpr (is_complex_type<T>) {
      using parts = detail::two_reals<typename T::value_type>;
      return detail::bits_as<T>((*this)(detail::bits_as<parts>(a), detail::bits_as<parts>(b)));
    } else if constexpr (detail::is_two_reals<T>::value) {
      return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    } else {
      return a * b;
    }
  }
  template <class T>
  [[nodiscard]] PGAS_HD static T identity() {
    if constexpr (detail::is_two_reals<T>::value) {
      return {1, 0};
    } else {
      return T(1);
    }
  }
};

/// @brief The smaller value; NaN if either value is NaN.
///
/// *Units* integers, float, double, 16-bit floats.
struct min {
  static constexpr std::uint32_t id = 3;
  template <class T>
  [[nodiscard]] PGAS_HD std::enable_if_t<is_reduce_ordered<T>, T> operator()(T a, T b) const {
    if constexpr (is_reduce_integer<T>) {
      return b < a ? b : a;
    } else {
      return b < a || b != b ? b : a;
    }
  }
  template <class T>
  [[nodiscard]] PGAS_HD static T identity() {
    return detail::highest<T>();
  }
};

/// @brief The larger value; NaN if either value is NaN.
///
/// *Units* as for min.
struct max {
  static constexpr std::uint32_t id = 4;
  template <class T>
  [[nodiscard]] PGAS_HD std::enable_if_t<is_reduce_ordered<T>, T> operator()(T a, T b) const {
    if constexpr (is_reduce_integer<T>) {
      return a < b ? b : a;
    } else {
      return a < b || b != b ? b : a;
    }
  }
  template <class T>
  [[nodiscard]] PGAS_HD static T identity() {
    return detail::lowest<T>();
  }
};

/// @brief Bitwise AND: a & b.
///
/// *Units* integers.
struct bit_and {
  static constexpr std::uint32_t id = 5;
  template <class T>
  [[nodiscard]] PGAS_HD std::enable_if_t<is_reduce_integer<T>, T> operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
  template <class T>
  [[nodiscard]] PGAS_HD static T identity() {
    return static_cast<T>(~std::uint64_t{0});
  }
};

/// @brief Bitwise OR: a | b.
///
/// *Units* integers.
struct bit_or {
  static constexpr std::uint32_t id = 6;
  template <class T>
  [[nodiscard]] PGAS_HD std::enable_if_t<is_reduce_integer<T>, T> operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
  template <class T>
  [[nodiscard]] PGAS_HD static T identity() {
    return T{0};
  }
};

/// @brief Bitwise XOR: a ^ b.
///
/// *Units* integers.
struct bit_xor {
  static constexpr std::uint32_t id = 7;
  template <class T>
  [[nodiscard]] PGAS_HD std::enable_if_t<is_reduce_integer<T>, T> operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
  template <class T>
  [[nodiscard]] PGAS_HD static T identity() {
    return T{0};
  }
};

/// @brief The pair with the larger value. If the values are equal, the result is the pair with the smaller index.
///
/// NaN counts as larger than any number, and two NaNs count as equal.
///
/// *Units* pgas::indexed.
struct maxloc {
  static constexpr std::uint32_t id = 8;
  template <class T, class I>
  [[nodiscard]] PGAS_HD std::enable_if_t<detail::is_indexed<indexed<T, I>>::value, indexed<T, I>> operator()(
      const indexed<T, I>& a, const indexed<T, I>& b) const {
    const bool b_wins = a.value < b.value || (b.value != b.value && a.value == a.value);
    const bool a_wins = b.value < a.value || (a.value != a.value && b.value == b.value);
    return b_wins || (!a_wins && b.index < a.index) ? b : a;
  }
  template <class P>
  [[nodiscard]] PGAS_HD static P identity() {
    return {detail::lowest<decltype(P::value)>(), detail::highest<decltype(P::index)>()};
  }
};

/// @brief The pair with the smaller value. If the values are equal, the result is the pair with the smaller index.
///
/// NaN counts as smaller than any number, and two NaNs count as equal.
///
/// *Units* pgas::indexed.
struct minloc {
  static constexpr std::uint32_t id = 9;
  template <class T, class I>
  [[nodiscard]] PGAS_HD std::enable_if_t<detail::is_indexed<indexed<T, I>>::value, indexed<T, I>> operator()(
      const indexed<T, I>& a, const indexed<T, I>& b) const {
    const bool b_wins = b.value < a.value || (b.value != b.value && a.value == a.value);
    const bool a_wins = a.value < b.value || (a.value != a.value && b.value == b.value);
    return b_wins || (!a_wins && b.index < a.index) ? b : a;
  }
  template <class P>
  [[nodiscard]] PGAS_HD static P identity() {
    return {detail::highest<decltype(P::value)>(), detail::highest<decltype(P::index)>()};
  }
};

}  // namespace op

namespace detail {

/// The number that identifies an operation when calls are compared. The number is 0 for operations that the program
/// defines.
template <class Op>
[[nodiscard]] PGAS_HD constexpr std::uint32_t op_id(const Op&) {
  if constexpr (library_op<Op>) {
    return Op::id;
  } else {
    return 0;
  }
}

}  // namespace detail
}  // namespace pgas

#include "pgas/detail/names_end.inc"
