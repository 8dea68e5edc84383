/// @file
/// The parts of the two 16-bit floating-point formats that the model needs: exact integers from 0 on, without the
/// library's own conversions.
#pragma once

#include <bit>
#include <cstdint>

namespace pgas_random {

/// A number with `Fraction` stored bits of significand: 10 for half, 7 for bfloat16.
template <int Fraction>
struct number16 {
  static constexpr int bias = Fraction == 10 ? 15 : 127;
  /// Sums up to this value are exact.
  static constexpr int most = 1 << (Fraction + 1);

  std::uint16_t bits = 0;

  /// @param number 0 to most
  [[nodiscard]] static constexpr number16 from_number(int number) {
    if (number == 0) return {};
    const int exponent = static_cast<int>(std::bit_width(static_cast<unsigned>(number))) - 1;
    const unsigned significand = (static_cast<unsigned>(number) << Fraction >> exponent) & ((1u << Fraction) - 1);
    return {static_cast<std::uint16_t>(static_cast<unsigned>(exponent + bias) << Fraction | significand)};
  }
  /// -1 for numbers that of() does not return.
  [[nodiscard]] constexpr int value() const {
    if (bits == 0) return 0;
    const int exponent = (bits >> Fraction) - bias;
    if (exponent < 0 || exponent > Fraction + 1) return -1;
    const unsigned scaled = (1u << Fraction | (bits & ((1u << Fraction) - 1))) << exponent;
    const int number = static_cast<int>(scaled >> Fraction);
    return from_number(number).bits == bits ? number : -1;
  }
  [[nodiscard]] friend constexpr number16 operator+(number16 a, number16 b) {
    return from_number(a.value() + b.value());
  }
};

/// A pair of such numbers.
template <int Fraction>
struct pair16 {
  number16<Fraction> x;
  number16<Fraction> y;
  [[nodiscard]] friend constexpr pair16 operator+(pair16 a, pair16 b) { return {a.x + b.x, a.y + b.y}; }
};

static_assert(number16<10>::from_number(1).bits == 0x3c00 && number16<7>::from_number(3).bits == 0x4040 &&
              number16<10>::from_number(2048).value() == 2048 && number16<7>::from_number(256).value() == 256 &&
              number16<7>{0x3f00}.value() == -1 && number16<7>{0x8000}.value() == -1);

}  // namespace pgas_random
