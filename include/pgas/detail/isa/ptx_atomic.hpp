/// @file
/// Read-modify-write operations at system scope: PTX, and the equivalent C++ for CPUs, as in `ptx_memory.hpp`. `reduce`
/// sends the operand and returns nothing (`red`); `fetch` waits for the old value (`atom`).
///
/// Operands: integers of 4 and 8 bytes; for `add` also float, double, and 16-bit floating-point numbers, alone or
/// packed. `order_rmw` composes floating-point minima and maxima of these.
#pragma once

#include "pgas/detail/float16.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"

namespace pgas::detail {

/// The update of a read-modify-write operation.
enum class rmw { add, bit_and, bit_or, bit_xor, min, max };

template <class T>
inline constexpr bool is_float16 = float16_traits<T>::numbers != 0;

/// The sum of 16-bit numbers in bit patterns, each half rounded once. The sum of two such numbers in float is exact
/// enough that a second rounding changes nothing (Figueroa 1995: 24 bits are twice 11 plus two).
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

/// The operation and the operand in the names of instructions.
template <rmw Op>
struct operation_name;
template <>
struct operation_name<rmw::add> {
  static constexpr char text[] = "add";
};
template <>
struct operation_name<rmw::bit_and> {
  static constexpr char text[] = "and";
};
template <>
struct operation_name<rmw::bit_or> {
  static constexpr char text[] = "or";
};
template <>
struct operation_name<rmw::bit_xor> {
  static constexpr char text[] = "xor";
};
template <>
struct operation_name<rmw::min> {
  static constexpr char text[] = "min";
};
template <>
struct operation_name<rmw::max> {
  static constexpr char text[] = "max";
};

/// 's' if the sign matters, 'u' for other arithmetic, 'b' for bits.
template <rmw Op, class T>
inline constexpr char kind_of = Op == rmw::bit_and || Op == rmw::bit_or || Op == rmw::bit_xor ? 'b'
                                : Op != rmw::add&& std::is_signed_v<T>                        ? 's'
                                                                                              : 'u';
template <rmw Op, class T>
struct operand_name {
  static constexpr char text[] = {kind_of<Op, T>, sizeof(T) == 4 ? '3' : '6', sizeof(T) == 4 ? '2' : '4', '\0'};
};
template <format16 Format, int Numbers>
struct float16_name;
template <>
struct float16_name<format16::binary16, 1> {
  static constexpr char text[] = "f16";
};
template <>
struct float16_name<format16::binary16, 2> {
  static constexpr char text[] = "f16x2";
};
template <>
struct float16_name<format16::bfloat, 1> {
  static constexpr char text[] = "bf16";
};
template <>
struct float16_name<format16::bfloat, 2> {
  static constexpr char text[] = "bf16x2";
};

/// Whether the target has an instruction that adds these 16-bit numbers. bfloat16 needs sm_90.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
template <class T>
inline constexpr bool has_add_instruction = float16_traits<T>::format == format16::binary16;
#else
template <class T>
inline constexpr bool has_add_instruction = true;
#endif

#else

/// Whether an operation has no GCC builtin on the CPU and uses a compare-and-swap loop.
template <rmw Op, class T>
inline constexpr bool by_trial = Op == rmw::min || Op == rmw::max || !std::is_integral_v<T>;

/// Returns the old value. `Order` is a constant __ATOMIC_*, because GCC replaces a variable by the strongest order.
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

/// fetch() by a compare-and-swap loop, if there is no instruction.
template <rmw Op, class T>
[[nodiscard]] PGAS_FN T fetch_by_trial(T* p, T value) {
  using bits = word_of<T>;
  for (T seen = load_relaxed(p);;) {
    const T found = compare_exchange(p, seen, combined<Op>(seen, value));
    if (bits_as<bits>(found) == bits_as<bits>(seen)) return seen;
    seen = found;
  }
}

/// Applies `Op` without returning a result. Relaxed.
template <rmw Op, class T>
PGAS_FN void reduce(T* p, T value) {
#if defined(__CUDACC__)
  using op = operation_name<Op>;
  const std::size_t at = global(p);
  if constexpr (is_float16<T>) {
    static_assert(Op == rmw::add);
    if constexpr (!has_add_instruction<T>) {
      static_cast<void>(fetch_by_trial<Op>(p, value));
    } else {
      using operand = float16_name<float16_traits<T>::format, float16_traits<T>::numbers>;
      const auto v = bits_as<word_of<T>>(value);
      if constexpr (sizeof(T) == 2) {
        asm volatile("red.relaxed.sys.global.add.noftz.%2 [%0], %1;" ::"l"(at), "h"(v), "C"(operand::text) : "memory");
      } else {
        asm volatile("red.relaxed.sys.global.add.noftz.%2 [%0], %1;" ::"l"(at), "r"(v), "C"(operand::text) : "memory");
      }
    }
  } else if constexpr (std::is_same_v<T, float>) {
    static_assert(Op == rmw::add);
    asm volatile("red.relaxed.sys.global.add.f32 [%0], %1;" ::"l"(at), "f"(value) : "memory");
  } else if constexpr (std::is_same_v<T, double>) {
    static_assert(Op == rmw::add);
    asm volatile("red.relaxed.sys.global.add.f64 [%0], %1;" ::"l"(at), "d"(value) : "memory");
  } else {
    using operand = operand_name<Op, T>;
    const auto v = bits_as<word_of<T>>(value);
    if constexpr (sizeof(T) == 4) {
      asm volatile("red.relaxed.sys.global.%2.%3 [%0], %1;" ::"l"(at), "r"(v), "C"(op::text), "C"(operand::text)
                   : "memory");
    } else {
      static_assert(sizeof(T) == 8);
      asm volatile("red.relaxed.sys.global.%2.%3 [%0], %1;" ::"l"(at), "l"(v), "C"(op::text), "C"(operand::text)
                   : "memory");
    }
  }
#else
  fetch_host<Op>(p, value);
#endif
}

/// Adds with release semantics, as store_release() stores. Only for u64, the type of signals and barrier slots.
PGAS_FN void reduce_add_release(std::uint64_t* p, std::uint64_t value) {
#if defined(__CUDACC__)
  const std::size_t at = global(p);
  asm volatile("red.release.sys.global.add.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
#else
  fetch_host<rmw::add, __ATOMIC_RELEASE>(p, value);
#endif
}

/// Applies `Op` and returns the old value. Relaxed.
template <rmw Op, class T>
[[nodiscard]] PGAS_FN T fetch(T* p, T value) {
#if defined(__CUDACC__)
  using op = operation_name<Op>;
  const std::size_t at = global(p);
  if constexpr (is_float16<T>) {
    static_assert(Op == rmw::add);
    if constexpr (!has_add_instruction<T>) {
      return fetch_by_trial<Op>(p, value);
    } else {
      using operand = float16_name<float16_traits<T>::format, float16_traits<T>::numbers>;
      const auto v = bits_as<word_of<T>>(value);
      word_of<T> old;
      if constexpr (sizeof(T) == 2) {
        asm volatile("atom.relaxed.sys.global.add.noftz.%3 %0, [%1], %2;"
                     : "=h"(old)
                     : "l"(at), "h"(v), "C"(operand::text)
                     : "memory");
      } else {
        asm volatile("atom.relaxed.sys.global.add.noftz.%3 %0, [%1], %2;"
                     : "=r"(old)
                     : "l"(at), "r"(v), "C"(operand::text)
                     : "memory");
      }
      return bits_as<T>(old);
    }
  } else if constexpr (std::is_same_v<T, float>) {
    static_assert(Op == rmw::add);
    float old;
    asm volatile("atom.relaxed.sys.global.add.f32 %0, [%1], %2;" : "=f"(old) : "l"(at), "f"(value) : "memory");
    return old;
  } else if constexpr (std::is_same_v<T, double>) {
    static_assert(Op == rmw::add);
    double old;
    asm volatile("atom.relaxed.sys.global.add.f64 %0, [%1], %2;" : "=d"(old) : "l"(at), "d"(value) : "memory");
    return old;
  } else {
    using operand = operand_name<Op, T>;
    const auto v = bits_as<word_of<T>>(value);
    word_of<T> old;
    if constexpr (sizeof(T) == 4) {
      asm volatile("atom.relaxed.sys.global.%3.%4 %0, [%1], %2;"
                   : "=r"(old)
                   : "l"(at), "r"(v), "C"(op::text), "C"(operand::text)
                   : "memory");
    } else {
      static_assert(sizeof(T) == 8);
      asm volatile("atom.relaxed.sys.global.%3.%4 %0, [%1], %2;"
                   : "=l"(old)
                   : "l"(at), "l"(v), "C"(op::text), "C"(operand::text)
                   : "memory");
    }
    return bits_as<T>(old);
  }
#else
  return fetch_host<Op>(p, value);
#endif
}

/// Minima and maxima of any amo_type: passes the operation to f(constant operation, word, operand). There are no
/// floating-point instructions for them. The bit patterns of floating-point numbers are ordered like integers:
/// ascending like signed integers if the sign bit is clear, descending like unsigned integers if it is set. The sign of
/// the operand tells which of the two orders is correct for any word. The order is IEEE 754's totalOrder: -NaN, -inf,
/// ..., -0, +0, ..., inf, NaN.
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
