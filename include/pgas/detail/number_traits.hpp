/// @file
/// The numbers that reductions accept: their kinds, their largest and smallest values, and the form in which they are
/// accumulated.
#pragma once

#include "pgas/detail/float16.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"

namespace pgas {

/// A value and its index: the elements of maxloc and minloc. `I` is any sufficiently wide integer type. If value and
/// index have the same size, the struct has no padding.
template <class T, class I = std::int64_t>
struct indexed {
  T value;
  I index;
  [[nodiscard]] friend PGAS_HD bool operator==(const indexed& a, const indexed& b) {
    return a.value == b.value && a.index == b.index;
  }
  [[nodiscard]] friend PGAS_HD bool operator!=(const indexed& a, const indexed& b) { return !(a == b); }
};

/// Whether T is an integer that reductions accept: any width, signed or unsigned.
template <class T>
inline constexpr bool is_reduce_integer =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_const_v<T> && sizeof(T) <= 8;

/// Whether T is a number that can be compared: the integers, `float` and `double`. 16-bit floats are compared as
/// floats.
template <class T>
inline constexpr bool is_reduce_ordered = is_reduce_integer<T> || std::is_same_v<T, float> || std::is_same_v<T, double>;

namespace detail {

template <class T>
using complex_members = std::void_t<
    typename T::value_type, decltype(some<T>().real()), decltype(some<T>().imag()),
    std::enable_if_t<std::is_same_v<typename T::value_type, float> || std::is_same_v<typename T::value_type, double>>,
    std::enable_if_t<sizeof(T) == 2 * sizeof(typename T::value_type) && std::is_trivially_copyable_v<T>>>;

}  // namespace detail

/// Whether T is a complex number: any type with real() and imag() and the layout of two `float` or two `double`, such
/// as std::complex and cuda::std::complex.
template <class T>
inline constexpr bool is_complex_type = detail::valid<detail::complex_members, T>;

#if __cpp_concepts >= 201907L  // the same as concepts
template <class T>
concept reduce_integer = is_reduce_integer<T>;
template <class T>
concept reduce_ordered = is_reduce_ordered<T>;
template <class T>
concept complex_type = is_complex_type<T>;
#endif

namespace detail {

/// The complex number that reductions accumulate. The type is not std::complex, because the member functions of
/// std::complex do not exist in GPU code.
template <class R>
struct two_reals {
  R re;
  R im;
};
template <class T>
struct is_two_reals : std::false_type {};
template <class R>
struct is_two_reals<two_reals<R>> : std::true_type {};

template <class T>
struct is_indexed : std::false_type {};
template <class T, class I>
struct is_indexed<indexed<T, I>> : std::bool_constant<is_reduce_ordered<T> && is_reduce_integer<I>> {};

/// The unsigned type for integer arithmetic that wraps around. The type has the size of `T`, or the size of the type to
/// which T is promoted.
template <class T>
using wrapping = std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t>;

/// The largest value: infinity if the type has an infinity.
template <PGAS_IS(reduce_ordered) T>
[[nodiscard]] PGAS_HD constexpr T highest() {
  if constexpr (std::is_same_v<T, float>) {
    return bits_as<T>(std::uint32_t{0x7f800000u});
  } else if constexpr (std::is_same_v<T, double>) {
    return bits_as<T>(std::uint64_t{0x7ff0000000000000u});
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(~std::uint64_t{0} >> (65 - 8 * sizeof(T)));
  } else {
    return static_cast<T>(~std::uint64_t{0});
  }
}

/// The smallest value: minus infinity if the type has an infinity.
template <PGAS_IS(reduce_ordered) T>
[[nodiscard]] PGAS_HD constexpr T lowest() {
  if constexpr (!std::is_integral_v<T>) {
    return -highest<T>();
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(-highest<T>() - 1);
  } else {
    return T{0};
  }
}

template <class Op, class A>
using reduce_call = std::enable_if_t<std::is_convertible_v<decltype(some<Op>()(some<A>(), some<A>())), A>>;
/// Whether `Op` accepts two values of type A and returns one.
template <class Op, class A>
inline constexpr bool reduces = valid<reduce_call, Op, A>;

template <class Op>
using operation_number = decltype(Op::id);
/// Whether Op is one of the library's operations. Each of these operations has a number.
template <class Op>
inline constexpr bool library_op = valid<operation_number, Op>;

/// The type in which `Op` accumulates elements of type T. For 16-bit floats: float, if `Op` accepts float, so that only
/// the result is rounded. For complex numbers in the library's operations: a pair of reals. For all other types: T.
template <class Op, class T, class = void>
struct accumulator {
  using type = T;
};
template <class Op, class T>
struct accumulator<Op, T, std::enable_if_t<is_float16_type<T> && reduces<Op, float>>> {
  using type = float;
};
template <class Op, class T>
struct accumulator<Op, T, std::enable_if_t<library_op<Op> && is_complex_type<T>>> {
  using reals = two_reals<typename T::value_type>;
  using type = std::conditional_t<reduces<Op, reals>, reals, T>;
};
template <class Op, class T>
using accumulator_of = typename accumulator<Op, T>::type;

/// The type that represents an element of type T in memory if the element is accumulated as A.
template <class T, class A>
using stored_as = std::conditional_t<sizeof(T) == sizeof(A), A, std::uint16_t>;

/// Converts an element to the type in which it is accumulated.
template <class T, class A>
[[nodiscard]] PGAS_HD A accumulated(const stored_as<T, A>& element) {
  if constexpr (sizeof(T) == sizeof(A)) {
    return element;
  } else {
    return to_float<float16_traits<T>::format>(element);
  }
}

/// Converts an accumulated value to the type that is stored. Rounds for 16-bit floats.
template <class T, class A>
[[nodiscard]] PGAS_HD stored_as<T, A> stored(const A& value) {
  if constexpr (sizeof(T) == sizeof(A)) {
    return value;
  } else {
    return from_float<float16_traits<T>::format>(value);
  }
}

}  // namespace detail
}  // namespace pgas
