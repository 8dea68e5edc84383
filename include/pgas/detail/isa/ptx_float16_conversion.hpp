/// @file
/// Conversions between float and the bit patterns of the two 16-bit floating-point formats: PTX on the GPU, arithmetic
/// elsewhere.
#pragma once

#include "pgas/detail/compiler.hpp"

namespace pgas::detail {

/// The encoding of a number in 16 bits.
enum class format16 { binary16, bfloat };

/// Converts a 16-bit number to float. The conversion is exact.
template <format16 Format>
[[nodiscard]] PGAS_HD float to_float(std::uint16_t bits) {
  if constexpr (Format == format16::bfloat) {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
  } else {
#if defined(__CUDA_ARCH__)
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
#else
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    const std::uint32_t magnitude = bits & 0x7fffu;
    if (magnitude >= 0x7c00u) return __builtin_bit_cast(float, sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    if (magnitude >= 0x400u) return __builtin_bit_cast(float, sign | ((magnitude << 13) + (112u << 23)));
    const float small = static_cast<float>(magnitude) * 0x1p-24F;  // a subnormal number, exact in a float
    return sign != 0 ? -small : small;
#endif
  }
}

/// Converts a float to the nearest 16-bit number, with ties to even. NaN stays NaN.
template <format16 Format>
[[nodiscard]] PGAS_HD std::uint16_t from_float(float value) {
  if constexpr (Format == format16::bfloat) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint16_t result;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(value));
    return result;
#else
    const auto bits = __builtin_bit_cast(std::uint32_t, value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
    return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
  } else {
#if defined(__CUDA_ARCH__)
    std::uint16_t result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
    return result;
#else
    const auto bits = __builtin_bit_cast(std::uint32_t, value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to more than 65504
    if (magnitude < 0x38800000u) {
      // The result is subnormal. Adding 0.5 aligns the last bit of the result with the last bit of the float, and the
      // addition rounds.
      const float raised = __builtin_bit_cast(float, magnitude) + 0.5F;
      return static_cast<std::uint16_t>(sign | (__builtin_bit_cast(std::uint32_t, raised) - 0x3f000000u));
    }
    const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23);
    return static_cast<std::uint16_t>(sign | rounded >> 13);
#endif
  }
}

}  // namespace pgas::detail
