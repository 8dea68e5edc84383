/// @file
/// The expected results of reductions, computed without the library: integers in 64 bits, and floating point in double
/// with a bound on the error. Also makes random elements for the tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "teams.hpp"

namespace pgas_test {

/// A number in [-1, 1), which is the same for equal arguments.
inline double random_real(std::uint32_t a, std::uint32_t b, std::uint32_t c = 0) {
  return static_cast<double>(mix(a, b, c)) / 2147483648.0 - 1.0;
}

/// An affine map x -> a x + b modulo 2^32. The composition is associative and not commutative.
struct affine {
  std::uint32_t a;
  std::uint32_t b;
};
struct compose {
  PGAS_HD affine operator()(const affine& f, const affine& g) const { return {g.a * f.a, g.a * f.b + g.b}; }
  template <class T>
  PGAS_HD static affine identity() {
    return {1, 0};
  }
};

/// The parts of an element: the real and the imaginary part of a complex number, or the number itself.
template <class T>
std::vector<double> parts(const T& value) {
  if constexpr (complex_type<T>) {
    return {static_cast<double>(value.real()), static_cast<double>(value.imag())};
  } else {
    return {static_cast<double>(static_cast<float>(value))};
  }
}
inline std::vector<double> parts(const double& value) { return {value}; }

/// The relative error of one rounding: `step` in the arithmetic, `stored` in the format of the result.
template <class T>
struct precision {
  double step = std::numeric_limits<float>::epsilon();
  double stored = 0;
};
template <>
struct precision<double> {
  double step = std::numeric_limits<double>::epsilon();
  double stored = 0;
};
template <>
struct precision<std::complex<double>> : precision<double> {};
template <>
struct precision<float16> {
  double step = std::numeric_limits<float>::epsilon();
  double stored = 0x1p-11;
};
template <>
struct precision<bfloat16> {
  double step = std::numeric_limits<float>::epsilon();
  double stored = 0x1p-8;
};

template <class T>
T random_number(std::uint32_t pe, std::uint32_t i) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::uint64_t{mix(pe, i)} << 32 | mix(pe, i, 7));
  } else if constexpr (std::is_same_v<T, affine>) {
    return {mix(pe, i), mix(pe, i, 1)};
  } else if constexpr (complex_type<T>) {
    using R = typename T::value_type;
    return {static_cast<R>(random_real(pe, i)), static_cast<R>(random_real(pe, i, 1))};
  } else if constexpr (detail::is_indexed<T>::value) {
    // There are few different values, so that ties occur. The indices are random.
    return {static_cast<decltype(T::value)>(mix(pe, i) % 3), static_cast<decltype(T::index)>(mix(pe, i, 2) % 100)};
  } else {
    return T(static_cast<float>(random_real(pe, i)));
  }
}

/// Whether `got` is the result of `op` on `elements` in this order.
template <class Op, class T>
bool is_result(const std::vector<T>& elements, const T& got) {
  const double n = static_cast<double>(elements.size());
  if constexpr (std::is_same_v<Op, compose>) {
    std::uint32_t x = 12345;
    for (const affine& f : elements) x = f.a * x + f.b;
    return got.a * 12345u + got.b == x;
  } else if constexpr (detail::is_indexed<T>::value) {
    T best = elements[0];
    for (const T& e : elements) {
      const bool better = std::is_same_v<Op, op::maxloc> ? e.value > best.value : e.value < best.value;
      if (better || (e.value == best.value && e.index < best.index)) best = e;
    }
    return got == best;
  } else if constexpr (std::is_same_v<Op, op::min> || std::is_same_v<Op, op::max>) {
    T best = elements[0];
    const auto below = [](const T& a, const T& b) {
      if constexpr (std::is_integral_v<T>)
        return a < b;
      else
        return parts(a)[0] < parts(b)[0];
    };
    for (const T& e : elements) {
      if (std::is_same_v<Op, op::min> ? below(e, best) : below(best, e)) best = e;
    }
    return got == best;
  } else if constexpr (std::is_integral_v<T>) {
    auto all = static_cast<std::uint64_t>(elements[0]);
    for (std::size_t k = 1; k < elements.size(); ++k) {
      const auto e = static_cast<std::uint64_t>(elements[k]);
      if (std::is_same_v<Op, op::sum>) all += e;
      if (std::is_same_v<Op, op::prod>) all *= e;
      if (std::is_same_v<Op, op::bit_and>) all &= e;
      if (std::is_same_v<Op, op::bit_or>) all |= e;
      if (std::is_same_v<Op, op::bit_xor>) all ^= e;
    }
    return got == static_cast<T>(all);
  } else {
    // |error| <= n u sum|x| for sums, 3 n u prod|x| for products (also of complex numbers), plus one rounding at the
    // end.
    const precision<T> rounding;
    std::complex<double> exact = std::is_same_v<Op, op::sum> ? 0.0 : 1.0;
    double magnitude = std::is_same_v<Op, op::sum> ? 0.0 : 1.0;
    for (const T& e : elements) {
      const std::vector<double> p = parts(e);
      const std::complex<double> x(p[0], p.size() > 1 ? p[1] : 0.0);
      if (std::is_same_v<Op, op::sum>) {
        exact += x;
        magnitude += std::abs(x);
      } else {
        exact *= x;
        magnitude *= std::abs(x);
      }
    }
    const std::vector<double> p = parts(got);
    const double error = std::abs(exact - std::complex<double>(p[0], p.size() > 1 ? p[1] : 0.0));
    // The smallest 16-bit numbers have fewer digits than `stored` assumes, so half of their distance is added.
    const double smallest = rounding.stored == 0x1p-11 ? 0x1p-25 : 0.0;
    // The result of each of several domains is also rounded.
    const double of_domains = asked_domain() != 0 ? rounding.stored * magnitude + n * smallest : 0.0;
    return error <= 3 * n * rounding.step * magnitude + rounding.stored * std::abs(exact) + smallest + of_domains;
  }
}

/// Whether `got` is the neutral element of `op`: combined with any value, it gives that value.
template <class Op, class T>
bool is_neutral(const T& got, const T& any) {
  return is_result<Op, T>({any}, any) && is_result<Op, T>({got, any}, any) && is_result<Op, T>({any, got}, any);
}

}  // namespace pgas_test
