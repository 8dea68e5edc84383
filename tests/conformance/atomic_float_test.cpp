// Floating-point atomic operations: the order of minima and maxima, and 16-bit sums.
#include <cmath>
#include <limits>

#include "one_sided.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// Minima and maxima of all pairs of special values. The list is in the order of totalOrder.
template <class T>
struct order_body {
  static constexpr int n = 12;
  sym<T> word;
  sym<T> values;
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0 || global_rank(block) != 0) return;
    const T* const v = values.at(ctx);
    const std::int32_t pe = ctx.n_pes() - 1;
    for (int a = 0; a < n; ++a) {
      for (int b = 0; b < n; ++b) {
        atomic_set(ctx, word.at(ctx), v[a], pe);
        atomic_min(ctx, word.at(ctx), v[b], pe);
        const std::uint64_t at = static_cast<std::uint64_t>(a) * 100 + static_cast<std::uint64_t>(b);
        found.check(ctx, at, same_bytes(atomic_fetch_max(ctx, word.at(ctx), v[b], pe), v[a < b ? a : b]));
        found.check(ctx, 10'000 + at, same_bytes(atomic_fetch(ctx, word.at(ctx), pe), v[b]));
        atomic_set(ctx, word.at(ctx), v[a], pe);
        atomic_max(ctx, word.at(ctx), v[b], pe);
        found.check(ctx, 20'000 + at, same_bytes(atomic_fetch_min(ctx, word.at(ctx), v[b], pe), v[a > b ? a : b]));
      }
    }
  }
};

template <class T>
void orders_of() {
  using limits = std::numeric_limits<T>;
  const T nan = limits::quiet_NaN();
  const T values[order_body<T>::n] = {std::copysign(nan, T{-1}),
                                      -limits::infinity(),
                                      limits::lowest(),
                                      T(-1.5),
                                      -limits::denorm_min(),
                                      T(-0.0),
                                      T(0.0),
                                      limits::denorm_min(),
                                      T(1.5),
                                      limits::max(),
                                      limits::infinity(),
                                      std::copysign(nan, T{1})};
  pe_set pes(2);
  const order_body<T> body{pes.allocate<T>(1), pes.allocate<T>(order_body<T>::n), make_findings(pes)};
  pes.write(0, body.values, values, order_body<T>::n);
  pes.run({1, 1}, body);
  expect_nothing_found(pes, body.found);
}

TEST(atomic_float, order_of_float) { orders_of<float>(); }
TEST(atomic_float, order_of_double) { orders_of<double>(); }

/// 16-bit sums of pairs of numbers in both formats, alone and packed. Each sum is compared with the float sum rounded
/// once. The returned old value is checked too.
template <class Number, class Pair>
struct sums_body {
  sym<Number> word;  // lies between two neighbours
  sym<Pair> pair;
  findings found;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0 || global_rank(block) != 0) return;
    const std::int32_t pe = ctx.n_pes() - 1;
    for (std::uint32_t i = 0; i < 400; ++i) {
      const Number a(static_cast<float>(static_cast<std::int32_t>(mix(i, 1) % 20001) - 10000) / 64);
      const Number b(static_cast<float>(static_cast<std::int32_t>(mix(i, 2) % 20001) - 10000) / 256);
      const Number ab(float(a) + float(b));
      Number* const w = word.at(ctx);
      atomic_set(ctx, w, a, pe);
      found.check(ctx, i * 10, same_bytes(atomic_fetch_add(ctx, w, b, pe), a));
      found.check(ctx, i * 10 + 1, same_bytes(atomic_fetch(ctx, w, pe), ab));
      atomic_set(ctx, w, b, pe);
      atomic_add(ctx, w, a, pe);
      Number result(0.0F);
      atomic_fetch_add_nbi(ctx, &result, w, Number(0.0F), pe);
      quiet(ctx);
      found.check(ctx, i * 10 + 2, same_bytes(result, ab));
      Pair* const q = pair.at(ctx);
      atomic_set(ctx, q, Pair{a, b}, pe);
      const Pair old = atomic_fetch_add(ctx, q, Pair{b, a}, pe);
      const Pair now = atomic_fetch(ctx, q, pe);
      found.check(ctx, i * 10 + 3, same_bytes(old, Pair{a, b}));
      found.check(ctx, i * 10 + 4, same_bytes(now, Pair{ab, ab}));
    }
  }
};

template <class Number, class Pair>
void sums_of() {
  pe_set pes(2);
  const auto words = pes.allocate<Number>(3);
  const sums_body<Number, Pair> body{words + 1, pes.allocate<Pair>(1), make_findings(pes)};
  const std::uint16_t neighbours[3] = {0x1234, 0, 0x5678};
  pes.write(1, sym<std::uint16_t>{words.offset}, neighbours, 3);
  pes.run({1, 1}, body);
  expect_nothing_found(pes, body.found);
  std::uint16_t after[3];
  pes.read(1, sym<std::uint16_t>{words.offset}, after, 3);
  EXPECT_EQ(after[0], neighbours[0]);
  EXPECT_EQ(after[2], neighbours[2]);
}

TEST(atomic_float, sums_of_float16) { sums_of<float16, float16_pair>(); }
TEST(atomic_float, sums_of_bfloat16) { sums_of<bfloat16, bfloat16_pair>(); }

}  // namespace
