/// @file
/// Executes atomic operations by the calling thread.
#pragma once

#include "device/body_tools.hpp"
#include "instruction.hpp"

namespace pgas_random {

using namespace pgas;

/// An atomic operation on a word of another PE. Returns the old value if the operation has a result.
struct atomic_call {
  const context& ctx;
  const instruction& i;

  template <class T>
  [[nodiscard]] PGAS_FN static T number_from(std::uint64_t bits) {
    if constexpr (sizeof(T) == 2)
      return detail::bits_as<T>(static_cast<std::uint16_t>(bits));
    else if constexpr (sizeof(T) == 4)
      return detail::bits_as<T>(static_cast<std::uint32_t>(bits));
    else
      return detail::bits_as<T>(bits);
  }

  template <class T>
  [[nodiscard]] PGAS_FN T update(T* word) const {
    const T value = number_from<T>(i.value);
    T old{};
    switch (i.what) {
      case opcode::atomic_fetch: return atomic_fetch(ctx, word, i.pe);
      case opcode::atomic_set: atomic_set(ctx, word, value, i.pe); return old;
      case opcode::atomic_add: atomic_add(ctx, word, value, i.pe); return old;
      case opcode::atomic_fetch_add: return atomic_fetch_add(ctx, word, value, i.pe);
      default: break;
    }
    if constexpr (amo_type<T>) {
      switch (i.what) {
        case opcode::atomic_swap: return atomic_swap(ctx, word, value, i.pe);
        case opcode::atomic_min: atomic_min(ctx, word, value, i.pe); return old;
        case opcode::atomic_fetch_min: return atomic_fetch_min(ctx, word, value, i.pe);
        case opcode::atomic_max: atomic_max(ctx, word, value, i.pe); return old;
        case opcode::atomic_fetch_max: return atomic_fetch_max(ctx, word, value, i.pe);
        default: break;
      }
    }
    if constexpr (amo_integer<T>) {
      switch (i.what) {
        case opcode::atomic_compare_swap:
          return atomic_compare_swap(ctx, word, number_from<T>(i.condition), value, i.pe);
        case opcode::atomic_inc: atomic_inc(ctx, word, i.pe); return old;
        case opcode::atomic_fetch_inc: return atomic_fetch_inc(ctx, word, i.pe);
        case opcode::atomic_and: atomic_and(ctx, word, value, i.pe); return old;
        case opcode::atomic_fetch_and: return atomic_fetch_and(ctx, word, value, i.pe);
        case opcode::atomic_or: atomic_or(ctx, word, value, i.pe); return old;
        case opcode::atomic_fetch_or: return atomic_fetch_or(ctx, word, value, i.pe);
        case opcode::atomic_xor: atomic_xor(ctx, word, value, i.pe); return old;
        case opcode::atomic_fetch_xor: return atomic_fetch_xor(ctx, word, value, i.pe);
        default: break;
      }
    }
    return old;
  }

  /// @param arena the arena of this PE
  template <class T>
  PGAS_OUTLINE void update_often(unsigned char* arena) const {
    for (std::uint32_t k = 0; k < i.count; ++k) {
      const T old = update(reinterpret_cast<T*>(arena + i.dst));
      if (i.result != nowhere) *reinterpret_cast<T*>(arena + i.result) = old;
    }
  }

  PGAS_FN void operator()(unsigned char* arena) const {
    switch (i.type) {
      case element::i32: return update_often<std::int32_t>(arena);
      case element::u32: return update_often<std::uint32_t>(arena);
      case element::i64: return update_often<std::int64_t>(arena);
      case element::u64: return update_often<std::uint64_t>(arena);
      case element::f32: return update_often<float>(arena);
      case element::f64: return update_often<double>(arena);
      case element::f16: return update_often<float16>(arena);
      case element::bf16: return update_often<bfloat16>(arena);
      case element::f16x2: return update_often<float16_pair>(arena);
      default: return update_often<bfloat16_pair>(arena);
    }
  }
};

}  // namespace pgas_random
