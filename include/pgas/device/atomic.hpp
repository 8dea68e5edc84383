/// @file
/// Atomic operations on other PEs' memory. All operations are relaxed at system scope, and atomic with respect to the
/// atomics, p and signals of every PE on the same word. An atomic operation does not order other accesses. Operations
/// without a result do not wait for an answer.
///
/// | operations | types |
/// | --- | --- |
/// | fetch, set, add, fetch_add | 4- and 8-byte integers, float, double, half, bfloat16 and their pairs |
/// | swap, compare_swap, min, max, fetch_min, fetch_max | 4- and 8-byte integers, float, double |
/// | inc, and, or, xor, fetch_inc, fetch_and, fetch_or, fetch_xor | 4- and 8-byte integers |
///
/// Integers may be signed or unsigned. Sums of integers wrap around. Sums of floating-point numbers round to nearest.
/// On GPUs, `float` sums flush subnormal numbers to zero. An addition to a pair is atomic for each of the two numbers,
/// not for the pair as a whole. compare_swap compares bits. For floating-point numbers, -0 therefore differs from 0,
/// and a NaN equals a NaN with the same bits. Minima and maxima of floating-point numbers follow IEEE 754's totalOrder:
/// -0 is below 0, NaN is above infinity, and NaN with the sign bit set is below -infinity.
///
/// The proxies execute operations on proxied PEs. Operations that a proxy executes are atomic with respect to all other
/// operations on the word. For a proxied PE, the `_nbi` forms wait for the result, which takes about one round trip of
/// the network.
/// *Errors* as in `rma.hpp`.
///
/// The `_nbi` forms write the old value to `*result`, in any memory of this PE. The value in `*result` is valid after
/// quiet().
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/isa/ptx_atomic.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/impl/proxy/proxied_operations.hpp"
#include "pgas/device/impl/sync/argument_check.hpp"
#include "pgas/device/impl/trace/traced_operation.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {
namespace detail {

/// The bits of a value in the form that a command carries.
template <class T>
[[nodiscard]] PGAS_FN std::uint64_t carried(T value) {
  return std::uint64_t{bits_as<word_of<T>>(value)};
}

/// The kind of an update in the trace. A reader of the trace can sum up integer additions only, so other additions have
/// another kind.
template <atomic_update Update, class T>
[[nodiscard]] PGAS_FN traced_update traced_as() {
  if (Update == atomic_update::fetch) return traced_update::none;
  if (Update == atomic_update::set) return traced_update::set;
  return Update == atomic_update::add && std::is_integral_v<T> ? traced_update::add : traced_update::other;
}

/// Updates the word of PE `pe`: calls `direct` for a direct PE, or submits `Update` to the proxy.
template <atomic_update Update, class T, class Direct>
PGAS_FN void update_by_route(const context& ctx, T* dst, T value, pe_or_peer pe, Direct direct) {
  traced_operation traced(ctx, this_thread{}, operation_of(Update, false));
  traced.on(ctx, pe);
  traced.updates(ctx, dst, carried(value), traced_as<Update, T>());
  ctx.by_route(
      dst, pe,
      [](const context& here, T* word, std::int32_t number) { check(here, operation_of(Update, false), word, number); },
      [=](const context&, T* remote) { direct(remote); },
      [=](const context& here, T* word, std::int32_t proxied_pe) {
        proxied_update(proxy_queue_of(here), {operation_of(Update, false), proxied_pe, here.offset(word)}, Update,
                       datatype_for<T>(), carried(value));
      });
}

/// Like update_by_route(), for operations that return the old value.
template <atomic_update Update, class Word, class T, class Direct>
[[nodiscard]] PGAS_FN T fetch_by_route(const context& ctx, Word* dst, T value, pe_or_peer pe, Direct direct,
                                       T condition = T{}) {
  traced_operation traced(ctx, this_thread{}, operation_of(Update, true));
  traced.on(ctx, pe);
  traced.updates(ctx, dst, carried(value), traced_as<Update, T>());
  return ctx.by_route(
      dst, pe,
      [](const context& here, Word* word, std::int32_t number) {
        check(here, operation_of(Update, true), word, number);
      },
      [=](const context&, Word* remote) { return direct(remote); },
      [=](const context& here, Word* word, std::int32_t proxied_pe) {
        const std::uint64_t old =
            proxied_fetch(proxy_queue_of(here), {operation_of(Update, true), proxied_pe, here.offset(word)}, Update,
                          datatype_for<T>(), carried(value), carried(condition));
        return bits_as<T>(static_cast<word_of<T>>(old));
      });
}

}  // namespace detail

/// @brief Reads the word.
///
/// *Callers* any thread. *Memory* `src` is symmetric. *Order* none.
///
/// @return The value of the word.
template <PGAS_IS(amo_add_type) T>
[[nodiscard]] PGAS_FN T atomic_fetch(const context& ctx, const T* src, pe_or_peer pe) {
  return detail::fetch_by_route<detail::atomic_update::fetch>(
      ctx, src, T{}, pe, [](const T* remote) { return detail::load_relaxed(remote); });
}

/// @brief Writes the word.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is issued; quiet() completes it.
/// *Order* none.
template <PGAS_IS(amo_add_type) T>
PGAS_FN void atomic_set(const context& ctx, T* dst, detail::type_identity_t<T> value, pe_or_peer pe) {
  detail::update_by_route<detail::atomic_update::set>(ctx, dst, value, pe,
                                                      [=](T* remote) { detail::store_relaxed(remote, value); });
}

/// @brief Adds `value`.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is issued; quiet() completes it.
/// *Order* none.
template <PGAS_IS(amo_add_type) T>
PGAS_FN void atomic_add(const context& ctx, T* dst, detail::type_identity_t<T> value, pe_or_peer pe) {
  detail::update_by_route<detail::atomic_update::add>(
      ctx, dst, value, pe, [=](T* remote) { detail::reduce<detail::rmw::add>(remote, value); });
}

/// @brief Adds one.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is issued; quiet() completes it.
/// *Order* none.
template <PGAS_IS(amo_integer) T>
PGAS_FN void atomic_inc(const context& ctx, T* dst, pe_or_peer pe) {
  detail::update_by_route<detail::atomic_update::add>(
      ctx, dst, T{1}, pe, [=](T* remote) { detail::reduce<detail::rmw::add>(remote, T{1}); });
}

/// @brief Bitwise AND with `value`.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is issued; quiet() completes it.
/// *Order* none.
template <PGAS_IS(amo_integer) T>
PGAS_FN void atomic_and(const context& ctx, T* dst, detail::type_identity_t<T> value, pe_or_peer pe) {
  detail::update_by_route<detail::atomic_update::bit_and>(
      ctx, dst, value, pe, [=](T* remote) { detail::reduce<detail::rmw::bit_and>(remote, value); });
}

/// @brief Bitwise OR with `value`.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is issued; quiet() completes it.
/// *Order* none.
template <PGAS_IS(amo_integer) T>
PGAS_FN void atomic_or(const context& ctx, T* dst, detail::type_identity_t<T> value, pe_or_peer pe) {
  detail::update_by_route<detail::atomic_update::bit_or>(
      ctx, dst, value, pe, [=](T* remote) { detail::reduce<detail::rmw::bit_or>(remote, value); });
}

/// @brief Bitwise XOR with `value`.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is issued; quiet() completes it.
/// *Order* none.
template <PGAS_IS(amo_integer) T>
PGAS_FN void atomic_xor(const context& ctx, T* dst, detail::type_identity_t<T> value, pe_or_peer pe) {
  detail::update_by_route<detail::atomic_update::bit_xor>(
      ctx, dst, value, pe, [=](T* remote) { detail::reduce<detail::rmw::bit_xor>(remote, value); });
}

/// @brief Writes `value` if it is less than the word.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is issued; quiet() completes it.
/// *Order* none.
template <PGAS_IS(amo_type) T>
PGAS_FN void atomic_min(const context& ctx, T* dst, detail::type_identity_t<T> value, pe_or_peer pe) {
  detail::update_by_route<detail::atomic_update::min>(
      ctx, dst, value, pe, [=](T* remote) { detail::reduce_order<detail::rmw::min>(remote, value); });
}

/// @brief Writes `value` if it is greater than the word.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is issued; quiet() completes it.
/// *Order* none.
template <PGAS_IS(amo_type) T>
PGAS_FN void atomic_max(const context& ctx, T* dst, detail::type_identity_t<T> value, pe_or_peer pe) {
  detail::update_by_route<detail::atomic_update::max>(
      ctx, dst, value, pe, [=](T* remote) { detail::reduce_order<detail::rmw::max>(remote, value); });
}

/// @brief Writes the word.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is complete at the target. *Order*
/// none.
///
/// @return The old value.
template <PGAS_IS(amo_add_type) T>
PGAS_FN T atomic_swap(const context& ctx, T* dst, detail::type_identity_t<T> value, pe_or_peer pe) {
  return detail::fetch_by_route<detail::atomic_update::swap>(
      ctx, dst, value, pe, [=](T* remote) { return detail::exchange(remote, value); });
}

/// @brief Writes `value` if the word equals `condition`.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is complete at the target. *Order*
/// none.
///
/// @return The old value.
template <PGAS_IS(amo_type) T>
PGAS_FN T atomic_compare_swap(const context& ctx, T* dst, detail::type_identity_t<T> condition,
                              detail::type_identity_t<T> value, pe_or_peer pe) {
  return detail::fetch_by_route<detail::atomic_update::compare_swap>(
      ctx, dst, value, pe, [=](T* remote) { return detail::compare_exchange(remote, condition, value); }, condition);
}

/// @brief Adds `value`.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is complete at the target. *Order*
/// none.
///
/// @return The old value.
template <PGAS_IS(amo_add_type) T>
PGAS_FN T atomic_fetch_add(const context& ctx, T* dst, detail::type_identity_t<T> value, pe_or_peer pe) {
  return detail::fetch_by_route<detail::atomic_update::add>(
      ctx, dst, value, pe, [=](T* remote) { return detail::fetch<detail::rmw::add>(remote, value); });
}

/// @brief Adds one.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is complete at the target. *Order*
/// none.
///
/// @return The old value.
template <PGAS_IS(amo_integer) T>
PGAS_FN T atomic_fetch_inc(const context& ctx, T* dst, pe_or_peer pe) {
  return detail::fetch_by_route<detail::atomic_update::add>(
      ctx, dst, T{1}, pe, [=](T* remote) { return detail::fetch<detail::rmw::add>(remote, T{1}); });
}

/// @brief Bitwise AND with `value`.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is complete at the target. *Order*
/// none.
///
/// @return The old value.
template <PGAS_IS(amo_integer) T>
PGAS_FN T atomic_fetch_and(const context& ctx, T* dst, detail::type_identity_t<T> value, pe_or_peer pe) {
  return detail::fetch_by_route<detail::atomic_update::bit_and>(
      ctx, dst, value, pe, [=](T* remote) { return detail::fetch<detail::rmw::bit_and>(remote, value); });
}

/// @brief Bitwise OR with `value`.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is complete at the target. *Order*
/// none.
///
/// @return The old value.
template <PGAS_IS(amo_integer) T>
PGAS_FN T atomic_fetch_or(const context& ctx, T* dst, detail::type_identity_t<T> value, pe_or_peer pe) {
  return detail::fetch_by_route<detail::atomic_update::bit_or>(
      ctx, dst, value, pe, [=](T* remote) { return detail::fetch<detail::rmw::bit_or>(remote, value); });
}

/// @brief Bitwise XOR with `value`.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is complete at the target. *Order*
/// none.
///
/// @return The old value.
template <PGAS_IS(amo_integer) T>
PGAS_FN T atomic_fetch_xor(const context& ctx, T* dst, detail::type_identity_t<T> value, pe_or_peer pe) {
  return detail::fetch_by_route<detail::atomic_update::bit_xor>(
      ctx, dst, value, pe, [=](T* remote) { return detail::fetch<detail::rmw::bit_xor>(remote, value); });
}

/// @brief Writes `value` if it is less than the word.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is complete at the target. *Order*
/// none.
///
/// @return The old value.
template <PGAS_IS(amo_type) T>
PGAS_FN T atomic_fetch_min(const context& ctx, T* dst, detail::type_identity_t<T> value, pe_or_peer pe) {
  return detail::fetch_by_route<detail::atomic_update::min>(
      ctx, dst, value, pe, [=](T* remote) { return detail::fetch_order<detail::rmw::min>(remote, value); });
}

/// @brief Writes `value` if it is greater than the word.
///
/// *Callers* any thread. *Memory* `dst` is symmetric. *On return* the operation is complete at the target. *Order*
/// none.
///
/// @return The old value.
template <PGAS_IS(amo_type) T>
PGAS_FN T atomic_fetch_max(const context& ctx, T* dst, detail::type_identity_t<T> value, pe_or_peer pe) {
  return detail::fetch_by_route<detail::atomic_update::max>(
      ctx, dst, value, pe, [=](T* remote) { return detail::fetch_order<detail::rmw::max>(remote, value); });
}

/// @brief Non-blocking atomic_fetch().
///
/// *Callers* any thread. *Memory* `src` is symmetric; `result` is any memory of this PE.
/// *On return* the operation is issued; quiet() makes `*result` valid. *Order* none.
template <PGAS_IS(amo_add_type) T>
PGAS_FN void atomic_fetch_nbi(const context& ctx, detail::type_identity_t<T>* result, const T* src, pe_or_peer pe) {
  *result = atomic_fetch(ctx, src, pe);
}

/// @brief Non-blocking atomic_swap().
///
/// *Callers* any thread. *Memory* `dst` is symmetric; `result` is any memory of this PE.
/// *On return* the operation is issued; quiet() completes it and makes `*result` valid. *Order* none.
template <PGAS_IS(amo_type) T>
PGAS_FN void atomic_swap_nbi(const context& ctx, detail::type_identity_t<T>* result, T* dst,
                             detail::type_identity_t<T> value, pe_or_peer pe) {
  *result = atomic_swap(ctx, dst, value, pe);
}

/// @brief Non-blocking atomic_compare_swap().
///
/// *Callers* any thread. *Memory* `dst` is symmetric; `result` is any memory of this PE.
/// *On return* the operation is issued; quiet() completes it and makes `*result` valid. *Order* none.
template <PGAS_IS(amo_type) T>
PGAS_FN void atomic_compare_swap_nbi(const context& ctx, detail::type_identity_t<T>* result, T* dst,
                                     detail::type_identity_t<T> condition, detail::type_identity_t<T> value,
                                     pe_or_peer pe) {
  *result = atomic_compare_swap(ctx, dst, condition, value, pe);
}

/// @brief Non-blocking atomic_fetch_inc().
///
/// *Callers* any thread. *Memory* `dst` is symmetric; `result` is any memory of this PE.
/// *On return* the operation is issued; quiet() completes it and makes `*result` valid. *Order* none.
template <PGAS_IS(amo_integer) T>
PGAS_FN void atomic_fetch_inc_nbi(const context& ctx, detail::type_identity_t<T>* result, T* dst, pe_or_peer pe) {
  *result = atomic_fetch_inc(ctx, dst, pe);
}

/// @brief Non-blocking atomic_fetch_add().
///
/// *Callers* any thread. *Memory* `dst` is symmetric; `result` is any memory of this PE.
/// *On return* the operation is issued; quiet() completes it and makes `*result` valid. *Order* none.
template <PGAS_IS(amo_add_type) T>
PGAS_FN void atomic_fetch_add_nbi(const context& ctx, detail::type_identity_t<T>* result, T* dst,
                                  detail::type_identity_t<T> value, pe_or_peer pe) {
  *result = atomic_fetch_add(ctx, dst, value, pe);
}

/// @brief Non-blocking atomic_fetch_and().
///
/// *Callers* any thread. *Memory* `dst` is symmetric; `result` is any memory of this PE.
/// *On return* the operation is issued; quiet() completes it and makes `*result` valid. *Order* none.
template <PGAS_IS(amo_integer) T>
PGAS_FN void atomic_fetch_and_nbi(const context& ctx, detail::type_identity_t<T>* result, T* dst,
                                  detail::type_identity_t<T> value, pe_or_peer pe) {
  *result = atomic_fetch_and(ctx, dst, value, pe);
}

/// @brief Non-blocking atomic_fetch_or().
///
/// *Callers* any thread. *Memory* `dst` is symmetric; `result` is any memory of this PE.
/// *On return* the operation is issued; quiet() completes it and makes `*result` valid. *Order* none.
template <PGAS_IS(amo_integer) T>
PGAS_FN void atomic_fetch_or_nbi(const context& ctx, detail::type_identity_t<T>* result, T* dst,
                                 detail::type_identity_t<T> value, pe_or_peer pe) {
  *result = atomic_fetch_or(ctx, dst, value, pe);
}

/// @brief Non-blocking atomic_fetch_xor().
///
/// *Callers* any thread. *Memory* `dst` is symmetric; `result` is any memory of this PE.
/// *On return* the operation is issued; quiet() completes it and makes `*result` valid. *Order* none.
template <PGAS_IS(amo_integer) T>
PGAS_FN void atomic_fetch_xor_nbi(const context& ctx, detail::type_identity_t<T>* result, T* dst,
                                  detail::type_identity_t<T> value, pe_or_peer pe) {
  *result = atomic_fetch_xor(ctx, dst, value, pe);
}

/// @brief Non-blocking atomic_fetch_min().
///
/// *Callers* any thread. *Memory* `dst` is symmetric; `result` is any memory of this PE.
/// *On return* the operation is issued; quiet() completes it and makes `*result` valid. *Order* none.
template <PGAS_IS(amo_type) T>
PGAS_FN void atomic_fetch_min_nbi(const context& ctx, detail::type_identity_t<T>* result, T* dst,
                                  detail::type_identity_t<T> value, pe_or_peer pe) {
  *result = atomic_fetch_min(ctx, dst, value, pe);
}

/// @brief Non-blocking atomic_fetch_max().
///
/// *Callers* any thread. *Memory* `dst` is symmetric; `result` is any memory of this PE.
/// *On return* the operation is issued; quiet() completes it and makes `*result` valid. *Order* none.
template <PGAS_IS(amo_type) T>
PGAS_FN void atomic_fetch_max_nbi(const context& ctx, detail::type_identity_t<T>* result, T* dst,
                                  detail::type_identity_t<T> value, pe_or_peer pe) {
  *result = atomic_fetch_max(ctx, dst, value, pe);
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
