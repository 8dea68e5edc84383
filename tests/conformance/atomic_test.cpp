// Atomic operations: random sequences of every operation of every type, compared with plain arithmetic; floating-point
// order; 16-bit sums; and updates of one word by all threads of all members at the same time.
#include <cmath>
#include <limits>

#include "one_sided.hpp"

namespace {

using namespace pgas;
using namespace pgas_test;

/// The unsigned integer type in which sums of T wrap around. For floating point, T itself.
template <class T, bool = std::is_integral_v<T>>
struct arithmetic {
  using type = std::make_unsigned_t<T>;
};
template <class T>
struct arithmetic<T, false> {
  using type = T;
};

template <class T>
PGAS_FN T sum(T a, T b) {
  using wide = typename arithmetic<T>::type;
  return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
}

/// A random operand. Integers have any bits, and half of the 64-bit ones are above 2^32. Other types are exact small
/// multiples of 1/4.
template <class T>
PGAS_FN T operand(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t r = mix64(a, b);
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(r % 3 == 0 ? r % 16 : r);
  } else {
    return static_cast<T>(static_cast<std::int32_t>(r % 4001) - 2000) / 4;
  }
}

/// Member 0 executes a random sequence on words of all members and knows the value that each word must have.
template <class T>
struct sequence_body {
  static constexpr std::uint32_t steps = 600;
  static constexpr std::int32_t most_members = 8;

  test_team team;
  sym<T> word;
  sym<T> results;
  findings found;

  /// Executes operation `op` in its plain, fetching or non-blocking form. Returns the old value, or `model` if the form
  /// returns none. Stores the new value in `model`.
  PGAS_FN T execute_operation(const context& ctx, std::uint32_t op, std::uint32_t form, T value, T other,
                              std::int32_t pe, T& model) const {
    T* const w = word.at(ctx);
    T* const result = results.at(ctx);
    const T before = model;
    T old = before;
    const auto done = [&](T now) {
      model = now;
      if (form != 2) return old;
      quiet(ctx);
      return *result;
    };
    switch (op) {
      case 0:
        if (form == 0) old = atomic_fetch(ctx, w, pe);
        if (form == 1) atomic_set(ctx, w, value, pe);
        if (form == 2) atomic_fetch_nbi(ctx, result, w, pe);
        return done(form == 1 ? value : before);
      case 1:
        if (form == 0) atomic_add(ctx, w, value, pe);
        if (form == 1) old = atomic_fetch_add(ctx, w, value, pe);
        if (form == 2) atomic_fetch_add_nbi(ctx, result, w, value, pe);
        return done(sum(before, value));
      case 2:
        if (form < 2) old = atomic_swap(ctx, w, value, pe);
        if (form == 2) atomic_swap_nbi(ctx, result, w, value, pe);
        return done(value);
      case 3: {
        const T condition = other < value ? before : other;  // true in half of the cases
        if (form < 2) old = atomic_compare_swap(ctx, w, condition, value, pe);
        if (form == 2) atomic_compare_swap_nbi(ctx, result, w, condition, value, pe);
        return done(same_bytes(condition, before) ? value : before);
      }
      case 4:
        if (form == 0) atomic_min(ctx, w, value, pe);
        if (form == 1) old = atomic_fetch_min(ctx, w, value, pe);
        if (form == 2) atomic_fetch_min_nbi(ctx, result, w, value, pe);
        return done(value < before ? value : before);
      case 5:
        if (form == 0) atomic_max(ctx, w, value, pe);
        if (form == 1) old = atomic_fetch_max(ctx, w, value, pe);
        if (form == 2) atomic_fetch_max_nbi(ctx, result, w, value, pe);
        return done(value > before ? value : before);
      default: break;
    }
    if constexpr (std::is_integral_v<T>) {
      switch (op) {
        case 6:
          if (form == 0) atomic_inc(ctx, w, pe);
          if (form == 1) old = atomic_fetch_inc(ctx, w, pe);
          if (form == 2) atomic_fetch_inc_nbi(ctx, result, w, pe);
          return done(sum(before, T{1}));
        case 7:
          if (form == 0) atomic_and(ctx, w, value, pe);
          if (form == 1) old = atomic_fetch_and(ctx, w, value, pe);
          if (form == 2) atomic_fetch_and_nbi(ctx, result, w, value, pe);
          return done(static_cast<T>(before & value));
        case 8:
          if (form == 0) atomic_or(ctx, w, value, pe);
          if (form == 1) old = atomic_fetch_or(ctx, w, value, pe);
          if (form == 2) atomic_fetch_or_nbi(ctx, result, w, value, pe);
          return done(static_cast<T>(before | value));
        default:
          if (form == 0) atomic_xor(ctx, w, value, pe);
          if (form == 1) old = atomic_fetch_xor(ctx, w, value, pe);
          if (form == 2) atomic_fetch_xor_nbi(ctx, result, w, value, pe);
          return done(static_cast<T>(before ^ value));
      }
    }
    return old;
  }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() != 0 || global_rank(block) != 0) return;
    T model[most_members] = {};
    constexpr std::uint32_t operations = std::is_integral_v<T> ? 10 : 6;
    for (std::uint32_t i = 0; i < steps; ++i) {
      const std::uint32_t r = mix(i, sizeof(T), static_cast<std::uint32_t>(ctx.n_pes()));
      const std::uint32_t op = r % operations;
      const auto pe = static_cast<std::int32_t>(r / 16 % static_cast<std::uint32_t>(ctx.n_pes()));
      const T before = model[pe];
      const T old = execute_operation(ctx, op, r / 256 % 3, operand<T>(i, 1), operand<T>(i, 2), pe, model[pe]);
      found.check(ctx, i * 100 + op * 10 + r / 256 % 3, same_bytes(old, before));
      found.check(ctx, i * 100 + op * 10 + 5, same_bytes(atomic_fetch(ctx, word.at(ctx), pe), model[pe]));
    }
  }
};

template <class T>
void sequences_of() {
  for (const team_shape& shape : team_shapes()) {
    pe_set pes(shape.n_pes);
    const test_team team = make_team(pes, shape.members, shape.as_list);
    guarded<T> word(pes, 1, 1);
    for (int pe = 0; pe < shape.n_pes; ++pe) word.write(pe, {T{}});
    const sequence_body<T> body{team, word.place(), pes.allocate<T>(1), make_findings(pes)};
    pes.run({1, 1}, body);
    expect_nothing_found(pes, body.found);
    for (int pe = 0; pe < shape.n_pes; ++pe) EXPECT_TRUE(word.guards_hold(pe)) << shape.name;
  }
}

TEST(atomic, sequences_of_int32) { sequences_of<std::int32_t>(); }
TEST(atomic, sequences_of_uint32) { sequences_of<std::uint32_t>(); }
TEST(atomic, sequences_of_long) { sequences_of<long>(); }
TEST(atomic, sequences_of_unsigned_long) { sequences_of<unsigned long>(); }
TEST(atomic, sequences_of_long_long) { sequences_of<long long>(); }
TEST(atomic, sequences_of_unsigned_long_long) { sequences_of<unsigned long long>(); }
TEST(atomic, sequences_of_float) { sequences_of<float>(); }
TEST(atomic, sequences_of_double) { sequences_of<double>(); }

/// All threads of all members update the words of one member.
struct crowd_body {
  static constexpr std::uint32_t spread = 97;  // the operands repeat after this number of threads

  test_team team;
  sym<double> extremes;            // the least and the greatest value
  sym<std::int64_t> wide;          // the least and the greatest value
  sym<float16> halves;             // without and with a result
  sym<bfloat16> brains;            // without and with a result
  sym<float16_pair> half_pairs;    // without and with a result
  sym<bfloat16_pair> brain_pairs;  // without and with a result
  // The number of threads that add 16-bit numbers. The number is small, so that the sums stay exact.
  std::uint32_t few;

  PGAS_HD static double number(std::uint32_t i) { return (static_cast<double>(mix(i % spread) % 2001) - 1000) / 8; }
  PGAS_HD static std::int64_t integer(std::uint32_t i) { return static_cast<std::int64_t>(mix64(i % spread, 9)); }

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& world) const {
    const team_context ctx(world, team);
    if (ctx.my_pe() < 0) return;
    const std::int32_t pe = ctx.n_pes() - 1;
    const std::uint32_t me = static_cast<std::uint32_t>(ctx.my_pe()) * global_size(block) + global_rank(block);
    for (std::uint32_t i = 0; i < 8; ++i) {
      atomic_min(ctx, extremes.at(ctx), number(me * 8 + i), pe);
      atomic_max(ctx, extremes.at(ctx) + 1, number(me * 8 + i), pe);
      static_cast<void>(atomic_fetch_min(ctx, wide.at(ctx), integer(me * 8 + i), pe));
      atomic_max(ctx, wide.at(ctx) + 1, integer(me * 8 + i), pe);
    }
    if (me >= few) return;
    atomic_add(ctx, halves.at(ctx), float16(0.5F), pe);
    static_cast<void>(atomic_fetch_add(ctx, halves.at(ctx) + 1, float16(-0.5F), pe));
    atomic_add(ctx, brains.at(ctx), bfloat16(2.0F), pe);
    static_cast<void>(atomic_fetch_add(ctx, brains.at(ctx) + 1, bfloat16(-2.0F), pe));
    atomic_add(ctx, half_pairs.at(ctx), float16_pair{float16(1.0F), float16(-3.0F)}, pe);
    static_cast<void>(atomic_fetch_add(ctx, half_pairs.at(ctx) + 1, float16_pair{float16(-1.0F), float16(3.0F)}, pe));
    atomic_add(ctx, brain_pairs.at(ctx), bfloat16_pair{bfloat16(1.0F), bfloat16(-0.25F)}, pe);
    static_cast<void>(
        atomic_fetch_add(ctx, brain_pairs.at(ctx) + 1, bfloat16_pair{bfloat16(-1.0F), bfloat16(0.25F)}, pe));
  }
};

TEST(atomic, nothing_is_lost_in_a_crowd) {
  for (const team_shape& shape : team_shapes()) {
    for (const grid_shape& grid : grids()) {
      pe_set pes(shape.n_pes);
      const auto threads = static_cast<std::uint32_t>(shape.members.size()) * grid.blocks * grid.threads;
      const std::uint32_t few = threads < 200 ? threads : 200;
      const crowd_body body{make_team(pes, shape.members, shape.as_list),
                            pes.allocate<double>(2),
                            pes.allocate<std::int64_t>(2),
                            pes.allocate<float16>(2),
                            pes.allocate<bfloat16>(2),
                            pes.allocate<float16_pair>(2),
                            pes.allocate<bfloat16_pair>(2),
                            few};
      const int last = shape.members.back();
      pes.run(grid, body);
      double least = 0;
      double greatest = 0;
      std::int64_t lowest = 0;
      std::int64_t highest = 0;
      for (std::uint32_t i = 0; i < threads * 8 && i < crowd_body::spread; ++i) {
        least = std::min(least, crowd_body::number(i));
        greatest = std::max(greatest, crowd_body::number(i));
        lowest = std::min(lowest, crowd_body::integer(i));
        highest = std::max(highest, crowd_body::integer(i));
      }
      double extremes[2];
      pes.read(last, body.extremes, extremes, 2);
      EXPECT_EQ(extremes[0], least);
      EXPECT_EQ(extremes[1], greatest);
      std::int64_t wide[2];
      pes.read(last, body.wide, wide, 2);
      EXPECT_EQ(wide[0], lowest);
      EXPECT_EQ(wide[1], highest);
      const auto n = static_cast<float>(few);
      float16 halves[2];
      pes.read(last, body.halves, halves, 2);
      EXPECT_EQ(float(halves[0]), n / 2);
      EXPECT_EQ(float(halves[1]), -n / 2);
      bfloat16 brains[2];
      pes.read(last, body.brains, brains, 2);
      EXPECT_EQ(float(brains[0]), 2 * n);
      EXPECT_EQ(float(brains[1]), -2 * n);
      float16_pair pairs[2];
      pes.read(last, body.half_pairs, pairs, 2);
      EXPECT_TRUE(float(pairs[0].x) == n && float(pairs[0].y) == -3 * n);
      EXPECT_TRUE(float(pairs[1].x) == -n && float(pairs[1].y) == 3 * n);
      bfloat16_pair brain_pairs[2];
      pes.read(last, body.brain_pairs, brain_pairs, 2);
      EXPECT_TRUE(float(brain_pairs[0].x) == n && float(brain_pairs[0].y) == -n / 4);
      EXPECT_TRUE(float(brain_pairs[1].x) == -n && float(brain_pairs[1].y) == n / 4);
    }
  }
}

/// One atomic operation of PE 0 with one error.
struct bad_atomic {
  sym<double> good;
  std::uint64_t end;
  int fault;
  int which;

  template <class Block>
  PGAS_FN void operator()(const Block& block, const context& ctx) const {
    if (ctx.my_pe() != 0 || block.thread_rank() != 0) return;
    auto at = reinterpret_cast<std::uintptr_t>(good.at(ctx));
    std::int32_t pe = 1;
    if (fault == 1) pe = 2;
    if (fault == 2) pe = -1;
    if (fault == 3) at = ctx.my_slot_ + end;
    if (fault == 4) at = ctx.my_slot_ - 64;
    if (fault == 5) at += 1;
    double result = 0;
    float16 small(0.0F);
    if (which == 0) atomic_min(ctx, reinterpret_cast<double*>(at), 1, pe);
    if (which == 1) atomic_fetch_max_nbi(ctx, &result, reinterpret_cast<double*>(at), 1, pe);
    if (which == 2) atomic_fetch_add_nbi(ctx, &small, reinterpret_cast<float16*>(at), float16(1.0F), pe);
    if (which == 3) static_cast<void>(atomic_compare_swap(ctx, reinterpret_cast<double*>(at), 1, 2, pe));
  }
};

TEST(atomic, checks_catch_bad_arguments) {
  using detail::operation;
  constexpr operation called[] = {operation::atomic_min, operation::atomic_fetch_max, operation::atomic_fetch_add,
                                  operation::atomic_compare_swap};
  for (int which = 0; which < 4; ++which) {
    for (int fault = 0; fault <= 5; ++fault) {
      SCOPED_TRACE(testing::Message() << "operation " << which << ", fault " << fault);
      pe_options options{.checks = true};
      pe_set pes(2, options);
      const bad_atomic body{pes.allocate<double>(1), options.heap_bytes, fault, which};
      if (fault == 0) {
        pes.run({1, 2}, body);
        continue;
      }
      const detail::failure why = fault <= 2   ? detail::failure::pe_out_of_range
                                  : fault == 5 ? detail::failure::misaligned
                                               : detail::failure::outside_heap;
      expect_caught(pes, body, called[which], why);
    }
  }
}

}  // namespace
