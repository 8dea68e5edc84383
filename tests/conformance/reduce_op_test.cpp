// The operations of reductions, tested without a reduction: neutral elements, ties, NaN, wrap-around, and the types
// that they accept.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "pgas/device/impl/reduce/collective_request.hpp"

namespace {

using namespace pgas;

// ---- the types that each operation accepts

template <class T>
constexpr bool arithmetic = scan_op<op::sum, T>&& scan_op<op::prod, T>;
template <class T>
constexpr bool ordered = scan_op<op::min, T>&& scan_op<op::max, T>;
template <class T>
constexpr bool bitwise = scan_op<op::bit_and, T>&& scan_op<op::bit_or, T>&& scan_op<op::bit_xor, T>;
template <class T>
constexpr bool located = scan_op<op::maxloc, T>&& scan_op<op::minloc, T>;

static_assert(arithmetic<std::int8_t> && arithmetic<std::uint64_t> && arithmetic<long long> && arithmetic<char>);
static_assert(arithmetic<float16> && arithmetic<bfloat16> && arithmetic<float> && arithmetic<std::complex<double>>);
static_assert(ordered<short> && ordered<std::size_t> && ordered<bfloat16> && ordered<double>);
static_assert(bitwise<unsigned char> && bitwise<std::int64_t>);
static_assert(located<indexed<float, int>> && located<indexed<std::int64_t>> && located<indexed<std::uint8_t, short>>);

static_assert(!reduce_op<op::sum, bool> && !reduce_op<op::sum, int*> && !reduce_op<op::sum, indexed<int, int>>);
static_assert(!reduce_op<op::min, std::complex<float>> && !reduce_op<op::bit_or, float> &&
              !reduce_op<op::bit_and, float16>);
static_assert(!reduce_op<op::maxloc, int> && !reduce_op<op::sum, const int> && !reduce_op<op::sum, long double>);

struct own_sum {
  int operator()(int a, int b) const { return a + b; }
};
static_assert(reduce_op<own_sum, int> && !scan_op<own_sum, int>);  // the operation has no neutral element

// The types for which the library has kernels.
static_assert(detail::library_reduction<op::max, std::int16_t> && !detail::library_reduction<own_sum, int>);
static_assert(detail::library_reduction<op::minloc, indexed<double>>);
static_assert(!detail::library_reduction<op::minloc, indexed<double, std::int32_t>>);
static_assert(!detail::library_reduction<op::minloc, indexed<std::uint32_t, std::int32_t>>);
static_assert(detail::number_of<op::sum, int>() == detail::number_type::u32);
static_assert(detail::number_of<op::min, int>() == detail::number_type::i32);
static_assert(detail::number_of<op::min, char>() == detail::number_type::i8 || std::is_unsigned_v<char>);

// ---- neutral elements

template <class Op, class T>
void expect_neutral(std::initializer_list<T> values) {
  const T neutral = Op::template identity<T>();
  for (const T& v : values) {
    EXPECT_TRUE(Op{}(neutral, v) == v);
    EXPECT_TRUE(Op{}(v, neutral) == v);
  }
}

template <class T>
void expect_neutral_integers() {
  const auto values = {std::numeric_limits<T>::min(), T{0}, T{1}, T{77}, std::numeric_limits<T>::max()};
  expect_neutral<op::sum, T>(values);
  expect_neutral<op::prod, T>(values);
  expect_neutral<op::min, T>(values);
  expect_neutral<op::max, T>(values);
  expect_neutral<op::bit_and, T>(values);
  expect_neutral<op::bit_or, T>(values);
  expect_neutral<op::bit_xor, T>(values);
  EXPECT_EQ((op::min::identity<T>()), std::numeric_limits<T>::max());
  EXPECT_EQ((op::max::identity<T>()), std::numeric_limits<T>::min());
}

TEST(reduce_op, neutral_elements) {
  expect_neutral_integers<std::int8_t>();
  expect_neutral_integers<std::uint8_t>();
  expect_neutral_integers<std::int16_t>();
  expect_neutral_integers<std::uint16_t>();
  expect_neutral_integers<std::int32_t>();
  expect_neutral_integers<std::uint32_t>();
  expect_neutral_integers<std::int64_t>();
  expect_neutral_integers<std::uint64_t>();
  const double infinity = std::numeric_limits<double>::infinity();
  expect_neutral<op::min, double>({-infinity, -1.5, 0.0, infinity});
  expect_neutral<op::max, double>({-infinity, -1.5, 0.0, infinity});
  expect_neutral<op::sum, float>({-1.5F, 0.0F, 3.0F});
  expect_neutral<op::prod, float>({-1.5F, 0.0F, 3.0F});
  EXPECT_EQ(op::prod::identity<detail::two_reals<float>>().re, 1.0F);
  EXPECT_EQ(op::prod::identity<detail::two_reals<float>>().im, 0.0F);
  using pair = indexed<std::int32_t>;
  expect_neutral<op::maxloc, pair>({{std::numeric_limits<int>::min(), 5}, {0, 0}});
  expect_neutral<op::minloc, pair>({{std::numeric_limits<int>::max(), 5}, {0, 0}});
}

TEST(reduce_op, integers_wrap_around) {
  EXPECT_EQ(op::sum{}(std::numeric_limits<int>::max(), 1), std::numeric_limits<int>::min());
  EXPECT_EQ(op::prod{}(std::uint16_t{65535}, std::uint16_t{65535}), std::uint16_t{1});
  EXPECT_EQ(op::sum{}(std::int8_t{-128}, std::int8_t{-1}), std::int8_t{127});
  EXPECT_EQ(op::prod{}(std::int64_t{1} << 62, std::int64_t{4}), 0);
}

TEST(reduce_op, min_and_max_pass_nan_on) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double other : {-1.0, 0.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(std::isnan(op::min{}(nan, other)));
    EXPECT_TRUE(std::isnan(op::min{}(other, nan)));
    EXPECT_TRUE(std::isnan(op::max{}(nan, other)));
    EXPECT_TRUE(std::isnan(op::max{}(other, nan)));
  }
}

TEST(reduce_op, of_equal_values_the_smaller_index) {
  using pair = indexed<float, int>;
  const pair low{2.0F, 3};
  const pair high{2.0F, 9};
  for (const auto& [a, b] : {std::pair{low, high}, std::pair{high, low}}) {
    EXPECT_TRUE(op::maxloc{}(a, b) == low);
    EXPECT_TRUE(op::minloc{}(a, b) == low);
  }
  const pair larger{3.0F, 7};
  EXPECT_TRUE(op::maxloc{}(low, larger) == larger);
  EXPECT_TRUE(op::minloc{}(larger, high) == high);
}

TEST(reduce_op, nan_wins_and_the_first_of_them) {
  using pair = indexed<float, int>;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const pair number{std::numeric_limits<float>::infinity(), 0};
  for (const int swap : {0, 1}) {
    const pair a = swap != 0 ? number : pair{nan, 5};
    const pair b = swap != 0 ? pair{nan, 5} : number;
    EXPECT_EQ(op::maxloc{}(a, b).index, 5);
    EXPECT_EQ(op::minloc{}(a, b).index, 5);
  }
  EXPECT_EQ((op::maxloc{}(pair{nan, 8}, pair{nan, 2}).index), 2);
  EXPECT_EQ((op::minloc{}(pair{nan, 2}, pair{nan, 8}).index), 2);
}

TEST(reduce_op, complex_products) {
  const std::complex<double> a(1, 2);
  const std::complex<double> b(3, -5);
  EXPECT_EQ(op::prod{}(a, b), a * b);
  EXPECT_EQ(op::sum{}(a, b), a + b);
}

}  // namespace
