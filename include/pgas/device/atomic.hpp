/// @file
/// Atomic operations on other PEs' memory. All are relaxed at system scope: atomic with respect to every PE's atomics,
/// p, and signals on the same word, and ordering nothing else. Those without a result don't wait for an answer.
///
/// Types: 4- and 8-byte integers, signed or not (conversions wrap as in C++); `float` and `double` where said.
#pragma once

#include "pgas/detail/ptx_atomic.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/impl/report.hpp"

namespace pgas {
namespace detail {

/// The word of PE `pe`, arguments checked.
template <class T>
[[nodiscard]] PGAS_FN T* atomic_target(const context& ctx, T* dst, std::int32_t pe) {
  check(ctx, operation::atomic, dst, 1, pe);
  return ctx.remote(dst, pe);
}

}  // namespace detail

/// Reads the word. Also `float`, `double`.
/// *Callers* any thread. *Memory* `src` is symmetric. *Order* none.
template <amo_type T>
[[nodiscard]] PGAS_FN T atomic_fetch(const context& ctx, const T* src, std::int32_t pe) {
  return detail::load_relaxed(detail::atomic_target(ctx, src, pe));
}

/// Writes the word. Also `float`, `double`.
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* issued; quiet() completes it. *Order* none.
template <amo_type T>
PGAS_FN void atomic_set(const context& ctx, T* dst, std::type_identity_t<T> value, std::int32_t pe) {
  detail::store_relaxed(detail::atomic_target(ctx, dst, pe), value);
}

/// Adds `value`. Also `float`, `double`.
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* issued; quiet() completes it. *Order* none.
template <amo_type T>
PGAS_FN void atomic_add(const context& ctx, T* dst, std::type_identity_t<T> value, std::int32_t pe) {
  detail::reduce<detail::rmw::add>(detail::atomic_target(ctx, dst, pe), value);
}

/// Adds one.
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* issued; quiet() completes it. *Order* none.
template <amo_integer T>
PGAS_FN void atomic_inc(const context& ctx, T* dst, std::int32_t pe) {
  detail::reduce<detail::rmw::add>(detail::atomic_target(ctx, dst, pe), T{1});
}

/// Clears the bits that `value` has not.
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* issued; quiet() completes it. *Order* none.
template <amo_integer T>
PGAS_FN void atomic_and(const context& ctx, T* dst, std::type_identity_t<T> value, std::int32_t pe) {
  detail::reduce<detail::rmw::bit_and>(detail::atomic_target(ctx, dst, pe), value);
}

/// Sets the bits that `value` has.
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* issued; quiet() completes it. *Order* none.
template <amo_integer T>
PGAS_FN void atomic_or(const context& ctx, T* dst, std::type_identity_t<T> value, std::int32_t pe) {
  detail::reduce<detail::rmw::bit_or>(detail::atomic_target(ctx, dst, pe), value);
}

/// Flips the bits that `value` has.
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* issued; quiet() completes it. *Order* none.
template <amo_integer T>
PGAS_FN void atomic_xor(const context& ctx, T* dst, std::type_identity_t<T> value, std::int32_t pe) {
  detail::reduce<detail::rmw::bit_xor>(detail::atomic_target(ctx, dst, pe), value);
}

/// Writes the word and returns what it held. Also `float`, `double`.
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* done at the target. *Order* none.
template <amo_type T>
PGAS_FN T atomic_swap(const context& ctx, T* dst, std::type_identity_t<T> value, std::int32_t pe) {
  return detail::exchange(detail::atomic_target(ctx, dst, pe), value);
}

/// Writes `value` if the word equals `condition`; returns what it held.
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* done at the target. *Order* none.
template <amo_integer T>
PGAS_FN T atomic_compare_swap(const context& ctx, T* dst, std::type_identity_t<T> condition,
                              std::type_identity_t<T> value, std::int32_t pe) {
  return detail::compare_exchange(detail::atomic_target(ctx, dst, pe), condition, value);
}

/// Adds `value` and returns what the word held. Also `float`, `double`.
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* done at the target. *Order* none.
template <amo_type T>
PGAS_FN T atomic_fetch_add(const context& ctx, T* dst, std::type_identity_t<T> value, std::int32_t pe) {
  return detail::fetch<detail::rmw::add>(detail::atomic_target(ctx, dst, pe), value);
}

/// Adds one and returns what the word held.
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* done at the target. *Order* none.
template <amo_integer T>
PGAS_FN T atomic_fetch_inc(const context& ctx, T* dst, std::int32_t pe) {
  return detail::fetch<detail::rmw::add>(detail::atomic_target(ctx, dst, pe), T{1});
}

/// atomic_and() that returns what the word held.
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* done at the target. *Order* none.
template <amo_integer T>
PGAS_FN T atomic_fetch_and(const context& ctx, T* dst, std::type_identity_t<T> value, std::int32_t pe) {
  return detail::fetch<detail::rmw::bit_and>(detail::atomic_target(ctx, dst, pe), value);
}

/// atomic_or() that returns what the word held.
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* done at the target. *Order* none.
template <amo_integer T>
PGAS_FN T atomic_fetch_or(const context& ctx, T* dst, std::type_identity_t<T> value, std::int32_t pe) {
  return detail::fetch<detail::rmw::bit_or>(detail::atomic_target(ctx, dst, pe), value);
}

/// atomic_xor() that returns what the word held.
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* done at the target. *Order* none.
template <amo_integer T>
PGAS_FN T atomic_fetch_xor(const context& ctx, T* dst, std::type_identity_t<T> value, std::int32_t pe) {
  return detail::fetch<detail::rmw::bit_xor>(detail::atomic_target(ctx, dst, pe), value);
}

}  // namespace pgas
