/// @file
/// Read-modify-write operations at system scope: PTX beside its C++ meaning, as in `ptx.hpp`. `reduce` sends the
/// operand and forgets it (`red`, no way back); `fetch` waits for the old value (`atom`).
#pragma once

#include "pgas/detail/ptx.hpp"

namespace pgas::detail {

/// What a read-modify-write does to its word.
enum class rmw { add, bit_and, bit_or, bit_xor };

#if !defined(__CUDACC__)

/// Returns the old value. `Order` is one of __ATOMIC_*, a constant because GCC takes any other for the strongest.
template <rmw Op, int Order, class T>
inline T fetch_host(T* p, T value) {
  auto* const target = aliased(p);
  if constexpr (!std::is_integral_v<T>) {
    static_assert(Op == rmw::add);
    tsan_note_load(p);
    word_of<T> seen = __atomic_load_n(target, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(target, &seen, bits_as<word_of<T>>(bits_as<T>(seen) + value), false, Order,
                                        __ATOMIC_RELAXED)) {
    }
    return bits_as<T>(seen);
  } else {
    tsan_note_load(p);
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

/// Relaxed, no result. 4 and 8 bytes; float and double for add.
template <rmw Op, class T>
PGAS_FN void reduce(T* p, T value) {
#if defined(__CUDACC__)
  const std::size_t at = global(p);
  if constexpr (std::is_same_v<T, float>) {
    static_assert(Op == rmw::add);
    asm volatile("red.relaxed.sys.global.add.f32 [%0], %1;" ::"l"(at), "f"(value) : "memory");
  } else if constexpr (std::is_same_v<T, double>) {
    static_assert(Op == rmw::add);
    asm volatile("red.relaxed.sys.global.add.f64 [%0], %1;" ::"l"(at), "d"(value) : "memory");
  } else if constexpr (sizeof(T) == 4) {
    const auto v = static_cast<std::uint32_t>(value);
    if constexpr (Op == rmw::add) asm volatile("red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"(at), "r"(v) : "memory");
    if constexpr (Op == rmw::bit_and)
      asm volatile("red.relaxed.sys.global.and.b32 [%0], %1;" ::"l"(at), "r"(v) : "memory");
    if constexpr (Op == rmw::bit_or)
      asm volatile("red.relaxed.sys.global.or.b32 [%0], %1;" ::"l"(at), "r"(v) : "memory");
    if constexpr (Op == rmw::bit_xor)
      asm volatile("red.relaxed.sys.global.xor.b32 [%0], %1;" ::"l"(at), "r"(v) : "memory");
  } else {
    static_assert(sizeof(T) == 8);
    const auto v = static_cast<std::uint64_t>(value);
    if constexpr (Op == rmw::add) asm volatile("red.relaxed.sys.global.add.u64 [%0], %1;" ::"l"(at), "l"(v) : "memory");
    if constexpr (Op == rmw::bit_and)
      asm volatile("red.relaxed.sys.global.and.b64 [%0], %1;" ::"l"(at), "l"(v) : "memory");
    if constexpr (Op == rmw::bit_or)
      asm volatile("red.relaxed.sys.global.or.b64 [%0], %1;" ::"l"(at), "l"(v) : "memory");
    if constexpr (Op == rmw::bit_xor)
      asm volatile("red.relaxed.sys.global.xor.b64 [%0], %1;" ::"l"(at), "l"(v) : "memory");
  }
#else
  fetch_host<Op>(p, value);
#endif
}

/// An add that releases, as store_release does. u64 only: signals and barrier slots.
PGAS_FN void reduce_add_release(std::uint64_t* p, std::uint64_t value) {
#if defined(__CUDACC__)
  const std::size_t at = global(p);
  asm volatile("red.release.sys.global.add.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
#else
  fetch_host<rmw::add, __ATOMIC_RELEASE>(p, value);
#endif
}

/// Relaxed, returns the old value. 4 and 8 bytes; float and double for add.
template <rmw Op, class T>
[[nodiscard]] PGAS_FN T fetch(T* p, T value) {
#if defined(__CUDACC__)
  const std::size_t at = global(p);
  if constexpr (std::is_same_v<T, float>) {
    static_assert(Op == rmw::add);
    float old;
    asm volatile("atom.relaxed.sys.global.add.f32 %0, [%1], %2;" : "=f"(old) : "l"(at), "f"(value) : "memory");
    return old;
  } else if constexpr (std::is_same_v<T, double>) {
    static_assert(Op == rmw::add);
    double old;
    asm volatile("atom.relaxed.sys.global.add.f64 %0, [%1], %2;" : "=d"(old) : "l"(at), "d"(value) : "memory");
    return old;
  } else if constexpr (sizeof(T) == 4) {
    std::uint32_t old;
    const auto v = static_cast<std::uint32_t>(value);
    if constexpr (Op == rmw::add)
      asm volatile("atom.relaxed.sys.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(v) : "memory");
    if constexpr (Op == rmw::bit_and)
      asm volatile("atom.relaxed.sys.global.and.b32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(v) : "memory");
    if constexpr (Op == rmw::bit_or)
      asm volatile("atom.relaxed.sys.global.or.b32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(v) : "memory");
    if constexpr (Op == rmw::bit_xor)
      asm volatile("atom.relaxed.sys.global.xor.b32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(v) : "memory");
    return static_cast<T>(old);
  } else {
    static_assert(sizeof(T) == 8);
    std::uint64_t old;
    const auto v = static_cast<std::uint64_t>(value);
    if constexpr (Op == rmw::add)
      asm volatile("atom.relaxed.sys.global.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(at), "l"(v) : "memory");
    if constexpr (Op == rmw::bit_and)
      asm volatile("atom.relaxed.sys.global.and.b64 %0, [%1], %2;" : "=l"(old) : "l"(at), "l"(v) : "memory");
    if constexpr (Op == rmw::bit_or)
      asm volatile("atom.relaxed.sys.global.or.b64 %0, [%1], %2;" : "=l"(old) : "l"(at), "l"(v) : "memory");
    if constexpr (Op == rmw::bit_xor)
      asm volatile("atom.relaxed.sys.global.xor.b64 %0, [%1], %2;" : "=l"(old) : "l"(at), "l"(v) : "memory");
    return static_cast<T>(old);
  }
#else
  return fetch_host<Op>(p, value);
#endif
}

/// Relaxed exchange of the bit pattern, returns the old one. 4 and 8 bytes.
template <class T>
[[nodiscard]] PGAS_FN T exchange(T* p, T value) {
  const auto v = bits_as<word_of<T>>(value);
  word_of<T> old;
#if defined(__CUDACC__)
  const std::size_t at = global(p);
  if constexpr (sizeof(T) == 4) {
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

/// Relaxed compare and swap of the bit pattern, returns what was there. 4 and 8 bytes.
template <class T>
[[nodiscard]] PGAS_FN T compare_exchange(T* p, T condition, T value) {
  const auto c = bits_as<word_of<T>>(condition);
  const auto v = bits_as<word_of<T>>(value);
  word_of<T> old;
#if defined(__CUDACC__)
  const std::size_t at = global(p);
  if constexpr (sizeof(T) == 4) {
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

}  // namespace pgas::detail
