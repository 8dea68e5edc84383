/// @file
/// The two 16-bit floating-point formats as types for host and device. CUDA's types (`__half`, `__nv_bfloat16` and
/// their packed pairs) are recognized by name, without their headers, and treated the same way.
#pragma once

#include "pgas/detail/isa/ptx_float16_conversion.hpp"

#if defined(__CUDACC__)
struct __half;
struct __half2;
struct __nv_bfloat16;
struct __nv_bfloat162;
#endif

namespace pgas {

/// A 16-bit floating-point number. The type only stores the number and converts it to and from float. Arithmetic uses
/// float.
template <detail::format16 Format>
struct basic_float16 {
  std::uint16_t bits = 0;

  basic_float16() = default;
  PGAS_HD explicit basic_float16(float value) : bits(detail::from_float<Format>(value)) {}
  [[nodiscard]] PGAS_HD explicit operator float() const { return detail::to_float<Format>(bits); }
  [[nodiscard]] friend PGAS_HD bool operator==(basic_float16 a, basic_float16 b) { return float(a) == float(b); }
  [[nodiscard]] friend PGAS_HD bool operator!=(basic_float16 a, basic_float16 b) { return !(a == b); }
};

/// IEEE 754 binary16, like CUDA's `__half`.
using float16 = basic_float16<detail::format16::binary16>;
/// The upper half of a float, like CUDA's `__nv_bfloat16`.
using bfloat16 = basic_float16<detail::format16::bfloat>;

/// Two adjacent 16-bit numbers that an atomic_add updates in one access, like CUDA's `__half2` and `__nv_bfloat162`.
template <detail::format16 Format>
struct alignas(4) basic_float16_pair {
  basic_float16<Format> x;
  basic_float16<Format> y;
};
using float16_pair = basic_float16_pair<detail::format16::binary16>;
using bfloat16_pair = basic_float16_pair<detail::format16::bfloat>;

namespace detail {

/// The number of 16-bit numbers in a type, and their format; `numbers` is 0 for other types.
template <class T>
struct float16_traits {
  static constexpr int numbers = 0;
};
template <int Numbers, format16 Format>
struct float16_description {
  static constexpr int numbers = Numbers;
  static constexpr format16 format = Format;
};
template <format16 Format>
struct float16_traits<basic_float16<Format>> : float16_description<1, Format> {};
template <format16 Format>
struct float16_traits<basic_float16_pair<Format>> : float16_description<2, Format> {};
#if defined(__CUDACC__)
template <>
struct float16_traits<::__half> : float16_description<1, format16::binary16> {};
template <>
struct float16_traits<::__half2> : float16_description<2, format16::binary16> {};
template <>
struct float16_traits<::__nv_bfloat16> : float16_description<1, format16::bfloat> {};
template <>
struct float16_traits<::__nv_bfloat162> : float16_description<2, format16::bfloat> {};
#endif

}  // namespace detail

/// Whether T is one 16-bit floating-point number: pgas::float16, pgas::bfloat16, or a CUDA type.
template <class T>
inline constexpr bool is_float16_type = detail::float16_traits<T>::numbers == 1;
/// Whether T is a pair of 16-bit floating-point numbers.
template <class T>
inline constexpr bool is_float16_pair_type = detail::float16_traits<T>::numbers == 2;

#if __cpp_concepts >= 201907L  // the same as concepts
template <class T>
concept float16_type = is_float16_type<T>;
template <class T>
concept float16_pair_type = is_float16_pair_type<T>;
#endif

}  // namespace pgas
