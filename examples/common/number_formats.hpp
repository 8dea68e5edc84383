/// @file
/// The small number formats of neural networks, as types for host and device: pgas::bfloat16 and pgas::float16, and
/// here the 8-bit format e4m3, pieces of memory that are loaded and stored in one step, and rows of e4m3 with a scale
/// for each 128 numbers. All operations are arithmetic on bits, so g++ and nvcc compute the same results.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pgas/device.hpp"

namespace examples {

/// An 8-bit number with 4 bits of exponent and 3 of mantissa, without infinity (OCP FP8 E4M3, `__nv_fp8_e4m3`).
struct e4m3 {
  static constexpr float largest = 448;
  std::uint8_t bits = 0;

  e4m3() = default;
  /// The nearest number, ties to even; values beyond the largest number become the largest, as inference engines
  /// require.
  PGAS_HD explicit e4m3(float value) {
    const auto whole = __builtin_bit_cast(std::uint32_t, value);
    const std::uint32_t magnitude = whole & 0x7fffffffU;
    std::uint32_t found = 0;
    if (magnitude > 0x7f800000U) {
      found = 0x7f;  // not a number
    } else if (magnitude >= 0x43e00000U) {
      found = 0x7e;  // 448
    } else if (magnitude < 0x3c800000U) {
      // Below 2^-6, e4m3 numbers are 2^-9 apart. Floats from 2^14 on have the same distance, so adding 2^14 rounds.
      found = __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, magnitude) + 16384.0F) - 0x46800000U;
    } else {
      found = (magnitude + 0x7ffffU + (magnitude >> 20 & 1U) - (120U << 23)) >> 20;
    }
    bits = static_cast<std::uint8_t>((whole >> 24 & 0x80U) | found);
  }
  /// Exact conversion.
  [[nodiscard]] PGAS_HD explicit operator float() const {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x80U) << 24;
    const std::uint32_t magnitude = bits & 0x7fU;
    if (magnitude == 0x7fU) return __builtin_bit_cast(float, sign | 0x7fc00000U);
    const float small = static_cast<float>(magnitude) * 0x1p-9F;
    const std::uint32_t found =
        magnitude < 8 ? __builtin_bit_cast(std::uint32_t, small) : (magnitude << 20) + (120U << 23);
    return __builtin_bit_cast(float, sign | found);
  }
};

/// Sixteen bytes of numbers, which a thread loads and stores in one step: 8 numbers of 16 bits, or 16 numbers of 8
/// bits. All memory that is sent consists of pieces, so every copy begins and ends at a multiple of 16 bytes.
struct alignas(16) piece {
  std::uint32_t words[4];

  template <class T>
  [[nodiscard]] PGAS_HD float get(int i) const {
    constexpr int each = 4 / static_cast<int>(sizeof(T));
    T number;
    number.bits = static_cast<decltype(number.bits)>(words[i / each] >> (i % each * 8 * static_cast<int>(sizeof(T))));
    return static_cast<float>(number);
  }
};

/// The number of numbers in a piece.
template <class T>
inline constexpr int per_piece = 16 / static_cast<int>(sizeof(T));

/// A piece of numbers, rounded to their type.
template <class T>
[[nodiscard]] PGAS_HD piece rounded_to(const float (&values)[per_piece<T>]) {
  constexpr int each = 4 / static_cast<int>(sizeof(T));
  piece all{};
  for (int i = 0; i < per_piece<T>; ++i)
    all.words[i / each] |= std::uint32_t{T(values[i]).bits} << (i % each * 8 * static_cast<int>(sizeof(T)));
  return all;
}

/// Rows of e4m3 with scales: `count` numbers, a multiple of 128, followed by the scale of each 128 numbers as a float.
struct scaled_row {
  static constexpr int together = 128;  ///< numbers that have one scale

  /// Pieces of such a row.
  [[nodiscard]] static PGAS_HD std::size_t pieces(int count) {
    return static_cast<std::size_t>(count / per_piece<e4m3> + (count / together + 3) / 4);
  }
  /// The scale of the numbers `which * 128` to `which * 128 + 127`.
  [[nodiscard]] static PGAS_HD float scale(const piece* row, int count, int which) {
    return __builtin_bit_cast(float, row[count / per_piece<e4m3> + which / 4].words[which % 4]);
  }
  /// Converts 128 numbers of 16 bits to e4m3. The scale is chosen so that the number with the largest magnitude becomes
  /// the largest number of e4m3.
  static PGAS_HD void write(piece* row, int count, int which, const piece* numbers) {
    constexpr int pieces16 = together / per_piece<pgas::bfloat16>;
    numbers += which * pieces16;
    float largest = 0;
    for (int i = 0; i < pieces16; ++i) {
      for (int j = 0; j < per_piece<pgas::bfloat16>; ++j) {
        const float value = numbers[i].get<pgas::bfloat16>(j);
        const float magnitude = value < 0 ? -value : value;
        largest = magnitude > largest ? magnitude : largest;
      }
    }
    const float unit = largest > 0 ? largest / e4m3::largest : 1.0F;
    for (int i = 0; i < together / per_piece<e4m3>; ++i) {
      float values[per_piece<e4m3>];
      for (int j = 0; j < per_piece<e4m3>; ++j) values[j] = numbers[2 * i + j / 8].get<pgas::bfloat16>(j % 8) / unit;
      row[which * (together / per_piece<e4m3>)+i] = rounded_to<e4m3>(values);
    }
    row[count / per_piece<e4m3> + which / 4].words[which % 4] = __builtin_bit_cast(std::uint32_t, unit);
  }
};

}  // namespace examples
