/// @file
/// Read-modify-write operations at system scope: PTX, and the equivalent C++ for CPUs, as in `ptx_memory.hpp`. `reduce`
/// sends the operand and returns nothing (`red`); `fetch` waits for the old value (`atom`).
///
/// Operands: integers of 4 and 8 bytes; for `add` also float, double, and 16-bit floating-point numbers, alone or
/// packed. `order_rmw` implements floating-point minima and maxima by these operations.
#pragma once

#include "pgas/detail/float16.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"

namespace pgas::detail {

/// The update of a read-modify-write operation.
enum class rmw { add, bit_and, bit_or, bit_xor, min, max };

template <class T>
inline constexpr bool is_float16 = float16_traits<T>::numbers != 0;

/// The sum of 16-bit numbers, given as bit patterns. Each number is added in float and then rounded to 16 bits. The
/// result is the same as with one rounding: for numbers with p significant bits, 2 p + 2 bits are sufficient for the
/// sum, and a float has 24 = 2 * 11 + 2 bits (Figueroa 1995).
template <class T>
[[nodiscard]] PGAS_HD word_of<T> add_float16(word_of<T> a, word_of<T> b) {
  constexpr format16 format = float16_traits<T>::format;
  const auto sum = [](std::uint32_t x, std::uint32_t y) {
    return from_float<format>(to_float<format>(static_cast<std::uint16_t>(x)) +
                              to_float<format>(static_cast<std::uint16_t>(y)));
  };
  if constexpr (float16_traits<T>::numbers == 1) {
    return sum(a, b);
  } else {
    return static_cast<std::uint32_t>(sum(a >> 16, b >> 16)) << 16 | sum(a, b);
  }
}

/// The result of `Op` on `seen` and `value`.
template <rmw Op, class T>
[[nodiscard]] PGAS_HD T combined(T seen, T value) {
  if constexpr (is_float16<T>) {
    static_assert(Op == rmw::add);
    return bits_as<T>(add_float16<T>(bits_as<word_of<T>>(seen), bits_as<word_of<T>>(value)));
  } else if constexpr (Op == rmw::add) {
    return seen + value;
  } else {
    static_assert(Op == rmw::min || Op == rmw::max);
    return (Op == rmw::min) == (value < seen) ? value : seen;
  }
}

#if defined(__CUDACC__)

/// The operand of an instruction for 16-bit numbers.
template <format16 Format, int Numbers>
struct float16_operand;
template <int Numbers>
using half_operand = float16_operand<format16::binary16, Numbers>;
template <int Numbers>
using bfloat_operand = float16_operand<format16::bfloat, Numbers>;

/// The operand type in the name of an instruction. For integers, only minima and maxima distinguish signed types.
template <rmw Op, class T, bool = std::is_floating_point_v<T>, int Numbers = float16_traits<T>::numbers>
struct instruction_operand {
  using type = float16_operand<float16_traits<T>::format, Numbers>;
};
template <rmw Op, class T>
struct instruction_operand<Op, T, true, 0> {
  using type = T;
};
template <rmw Op, class T>
struct instruction_operand<Op, T, false, 0> {
  static constexpr bool has_sign = (Op == rmw::min || Op == rmw::max) && std::is_signed_v<T>;
  using type = std::conditional_t<has_sign, std::make_signed_t<word_of<T>>, word_of<T>>;
};

/// The instructions for an operation and an operand type: one without a result, and one that returns the old value.
template <rmw Op, class Operand>
struct atomic_instruction;

// Each instruction name is a literal, because not every compiler has the constraint "C", which inserts a constant into
// the assembly text.
#define PGAS_INSTRUCTION(operation, operand, name, constraint)                                       \
  template <>                                                                                        \
  struct atomic_instruction<rmw::operation, operand> {                                               \
    template <class Word>                                                                            \
    static PGAS_FN void reduce(std::size_t at, Word v) {                                             \
      asm volatile("red.relaxed.sys.global." name " [%0], %1;" ::"l"(at), constraint(v) : "memory"); \
    }                                                                                                \
    template <class Word>                                                                            \
    static PGAS_FN Word fetch(std::size_t at, Word v) {                                              \
      Word old;                                                                                      \
      asm volatile("atom.relaxed.sys.global." name " %0, [%1], %2;"                                  \
                   : "=" constraint(old)                                                             \
                   : "l"(at), constraint(v)                                                          \
                   : "memory");                                                                      \
      return old;                                                                                    \
    }                                                                                                \
  }
PGAS_INSTRUCTION(add, std::uint32_t, "add.u32", "r");
PGAS_INSTRUCTION(add, std::uint64_t, "add.u64", "l");
PGAS_INSTRUCTION(add, float, "add.f32", "f");
PGAS_INSTRUCTION(add, double, "add.f64", "d");
PGAS_INSTRUCTION(add, half_operand<1>, "add.noftz.f16", "h");
PGAS_INSTRUCTION(add, half_operand<2>, "add.noftz.f16x2", "r");
PGAS_INSTRUCTION(add, bfloat_operand<1>, "add.noftz.bf16", "h");
PGAS_INSTRUCTION(add, bfloat_operand<2>, "add.noftz.bf16x2", "r");
PGAS_INSTRUCTION(bit_and, std::uint32_t, "and.b32", "r");
PGAS_INSTRUCTION(bit_and, std::uint64_t, "and.b64", "l");
PGAS_INSTRUCTION(bit_or, std::uint32_t, "or.b32", "r");
PGAS_INSTRUCTION(bit_or, std::uint64_t, "or.b64", "l");
PGAS_INSTRUCTION(bit_xor, std::uint32_t, "xor.b32", "r");
PGAS_INSTRUCTION(bit_xor, std::uint64_t, "xor.b64", "l");
PGAS_INSTRUCTION(min, std::uint32_t, "min.u32", "r");
PGAS_INSTRUCTION(min, std::uint64_t, "min.u64", "l");
PGAS_INSTRUCTION(min, std::int32_t, "min.s32", "r");
PGAS_INSTRUCTION(min, std::int64_t, "min.s64", "l");
PGAS_INSTRUCTION(max, std::uint32_t, "max.u32", "r");
PGAS_INSTRUCTION(max, std::uint64_t, "max.u64", "l");
PGAS_INSTRUCTION(max, std::int32_t, "max.s32", "r");
PGAS_INSTRUCTION(max, std::int64_t, "max.s64", "l");
#undef PGAS_INSTRUCTION

/// The instruction of `Op` for values of T, and the registers that hold a value.
template <rmw Op, class T>
struct instruction_of : atomic_instruction<Op, typename instruction_operand<Op, T>::type> {
  using register_type = std::conditional_t<std::is_floating_point_v<T>, T, word_of<T>>;
};

/// Whether the target has an instruction that adds these numbers. bfloat16 needs sm_90.
template <class T, int Numbers = float16_traits<T>::numbers>
inline constexpr bool has_add_instruction = true;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
template <class T>
inline constexpr bool has_add_instruction<T, 1> = float16_traits<T>::format == format16::binary16;
template <class T>
inline constexpr bool has_add_instruction<T, 2> = float16_traits<T>::format == format16::binary16;
#endif

#else

/// Whether an operation has no GCC builtin on the CPU and uses a compare-and-swap loop.
template <rmw Op, class T>
inline constexpr bool by_trial = Op == rmw::min || Op == rmw::max || !std::is_integral_v<T>;

/// Returns the old value. `Order` is a constant __ATOMIC_*, because GCC uses the strongest order if the order is a
/// variable.
template <rmw Op, int Order, class T>
inline T fetch_host(T* p, T value) {
  auto* const target = aliased(p);
  tsan_note_load(p);
  if constexpr (by_trial<Op, T>) {
    word_of<T> seen = __atomic_load_n(target, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(target, &seen, bits_as<word_of<T>>(combined<Op>(bits_as<T>(seen), value)),
                                        false, Order, __ATOMIC_RELAXED)) {
    }
    return bits_as<T>(seen);
  } else {
    const auto v = bits_as<word_of<T>>(value);
    if constexpr (Op == rmw::add) return bits_as<T>(__atomic_fetch_add(target, v, Order));
    if constexpr (Op == rmw::bit_and) return bits_as<T>(__atomic_fetch_and(target, v, Order));
    if constexpr (Op == rmw::bit_or) return bits_as<T>(__atomic_fetch_or(target, v, Order));
    if constexpr (Op == rmw::bit_xor) return bits_as<T>(__atomic_fetch_xor(target, v, Order));
  }
}

template <rmw Op, class T>
inline T fetch_host(T* p, T value) {
  return tsan_released() ? fetch_host<Op, __ATOMIC_RELEASE>(p, value) : fetch_host<Op, __ATOMIC_RELAXED>(p, value);
}

#endif

/// Relaxed compare and swap of the bit pattern; returns the old value. 2, 4 and 8 bytes.
template <class T>
[[nodiscard]] PGAS_FN T compare_exchange(T* p, T condition, T value) {
  const auto c = bits_as<word_of<T>>(condition);
  const auto v = bits_as<word_of<T>>(value);
  word_of<T> old;
#if defined(__CUDACC__)
  const std::size_t at = global(p);
  if constexpr (sizeof(T) == 2) {
    asm volatile("atom.relaxed.sys.global.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(at), "h"(c), "h"(v) : "memory");
  } else if constexpr (sizeof(T) == 4) {
    asm volatile("atom.relaxed.sys.global.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(at), "r"(c), "r"(v) : "memory");
  } else {
    asm volatile("atom.relaxed.sys.global.cas.b64 %0, [%1], %2, %3;" : "=l"(old) : "l"(at), "l"(c), "l"(v) : "memory");
  }
#else
  tsan_note_load(p);
  old = c;
  if (tsan_released()) {
    __atomic_compare_exchange_n(aliased(p), &old, v, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  } else {
    __atomic_compare_exchange_n(aliased(p), &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
#endif
  return bits_as<T>(old);
}

/// Relaxed exchange of the bit pattern; returns the old value. 2, 4 and 8 bytes.
template <class T>
[[nodiscard]] PGAS_FN T exchange(T* p, T value) {
  const auto v = bits_as<word_of<T>>(value);
  word_of<T> old;
#if defined(__CUDACC__)
  [[maybe_unused]] const std::size_t at = global(p);
  if constexpr (sizeof(T) == 2) {  // there is no 16-bit exchange instruction
    old = load_relaxed(reinterpret_cast<const word_of<T>*>(p));
    for (word_of<T> seen = old;; seen = old) {
      old = compare_exchange(reinterpret_cast<word_of<T>*>(p), seen, v);
      if (old == seen) break;
    }
  } else if constexpr (sizeof(T) == 4) {
    asm volatile("atom.relaxed.sys.global.exch.b32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(v) : "memory");
  } else {
    asm volatile("atom.relaxed.sys.global.exch.b64 %0, [%1], %2;" : "=l"(old) : "l"(at), "l"(v) : "memory");
  }
#else
  tsan_note_load(p);
  old = tsan_released() ? __atomic_exchange_n(aliased(p), v, __ATOMIC_RELEASE)
                        : __atomic_exchange_n(aliased(p), v, __ATOMIC_RELAXED);
#endif
  return bits_as<T>(old);
}

/// Implements fetch() by a compare-and-swap loop, for operations without an instruction.
template <rmw Op, class T>
[[nodiscard]] PGAS_FN T fetch_by_trial(T* p, T value) {
  using bits = word_of<T>;
  for (T seen = load_relaxed(p);;) {
    const T found = compare_exchange(p, seen, combined<Op>(seen, value));
    if (bits_as<bits>(found) == bits_as<bits>(seen)) return seen;
    seen = found;
  }
}

/// Applies `Op` without returning a result. The access is relaxed.
template <rmw Op, class T>
PGAS_FN void reduce(T* p, T value) {
#if defined(__CUDACC__)
  if constexpr (!has_add_instruction<T>) {
    static_cast<void>(fetch_by_trial<Op>(p, value));
  } else {
    using instruction = instruction_of<Op, T>;
    const std::size_t at = global(p);
    instruction::reduce(at, bits_as<typename instruction::register_type>(value));
  }
#else
  fetch_host<Op>(p, value);
#endif
}

/// Adds with release semantics, like store_release(). The function accepts only u64, the type of signals and barrier
/// slots.
PGAS_FN void reduce_add_release(std::uint64_t* p, std::uint64_t value) {
#if defined(__CUDACC__)
  const std::size_t at = global(p);
  asm volatile("red.release.sys.global.add.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
#else
  fetch_host<rmw::add, __ATOMIC_RELEASE>(p, value);
#endif
}

/// Applies `Op` and returns the old value. The access is relaxed.
template <rmw Op, class T>
[[nodiscard]] PGAS_FN T fetch(T* p, T value) {
#if defined(__CUDACC__)
  if constexpr (!has_add_instruction<T>) {
    return fetch_by_trial<Op>(p, value);
  } else {
    using instruction = instruction_of<Op, T>;
    const std::size_t at = global(p);
    return bits_as<T>(instruction::fetch(at, bits_as<typename instruction::register_type>(value)));
  }
#else
  return fetch_host<Op>(p, value);
#endif
}

/// Implements minima and maxima of any amo_type: passes the operation to f(constant operation, word, operand). GPUs
/// have no atomic instructions for floating-point minima and maxima. The bit patterns of floating-point numbers have
/// the order of integers: ascending as signed integers if the sign bit is clear, descending as unsigned integers if the
/// sign bit is set. The sign of the operand selects the comparison, which is then correct for every value of the word.
/// The order is IEEE 754's totalOrder: -NaN, -inf, ..., -0, +0, ..., inf, NaN.
template <rmw Op, class T, class F>
PGAS_FN void as_integer_order(T* p, T value, const F& f) {
  static_assert(Op == rmw::min || Op == rmw::max);
  if constexpr (std::is_integral_v<T>) {
    f(std::integral_constant<rmw, Op>{}, p, value);
  } else {
    constexpr rmw opposite = Op == rmw::min ? rmw::max : rmw::min;
    using bits = word_of<T>;
    using signed_bits = std::make_signed_t<bits>;
    const auto v = bits_as<signed_bits>(value);
    if (v >= 0) {
      f(std::integral_constant<rmw, Op>{}, reinterpret_cast<signed_bits*>(p), v);
    } else {
      f(std::integral_constant<rmw, opposite>{}, reinterpret_cast<bits*>(p), static_cast<bits>(v));
    }
  }
}

/// Like reduce(), for a minimum or maximum, of any amo_type.
template <rmw Op, class T>
PGAS_FN void reduce_order(T* p, T value) {
  as_integer_order<Op>(p, value, [](auto op, auto* word, auto operand) { reduce<op.value>(word, operand); });
}

/// Like fetch(), for a minimum or maximum, of any amo_type.
template <rmw Op, class T>
[[nodiscard]] PGAS_FN T fetch_order(T* p, T value) {
  T old{};
  as_integer_order<Op>(p, value,
                       [&old](auto op, auto* word, auto operand) { old = bits_as<T>(fetch<op.value>(word, operand)); });
  return old;
}

}  // namespace pgas::detail
