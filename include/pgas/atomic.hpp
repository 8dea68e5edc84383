/// @file
/// Atomic operations that the host calls. Each operation is atomic with respect to the atomic operations of all PEs,
/// kernels and streams on the same word. device/atomic.hpp describes the types.
///
/// Fetching functions return the old value. The `_nbi` functions write the old value to `*result`, which is host
/// memory, before the next quiet() returns. Functions without a result return when the operation is complete.
///
/// *Callers* any thread. *Errors* as in rma.hpp.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/host/untyped_operations.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {
namespace detail {

template <class T>
T fetch_from(world& w, atomic_op update, int pe) {
  update.fetches = true;
  return from_bits<T>(fetch_update(w, update, pe));
}
/// Begins an update. The old value, of type T, goes to `result`, which must not be null.
template <class T>
void fetch_nonblocking(world& w, const atomic_op& update, T* result, int pe) {
  if (result == nullptr) throw error(code::invalid_argument, "atomic_*_nbi: the place for the result is null");
  begin_fetch(w, update, result, pe);
}

}  // namespace detail

/// @brief Reads `*target` on PE `pe`.
///
/// @return The value.
template <amo_add_type T>
[[nodiscard]] T atomic_fetch(world& w, const T* target, int pe) {
  return detail::fetch_from<T>(w, detail::update_of(detail::atomic_update::fetch, target), pe);
}
/// @brief Non-blocking atomic_fetch().
template <amo_add_type T>
void atomic_fetch_nbi(world& w, std::type_identity_t<T>* result, const T* target, int pe) {
  detail::fetch_nonblocking<T>(w, detail::update_of(detail::atomic_update::fetch, target), result, pe);
}

/// @brief Writes `*target` on PE `pe`.
template <amo_add_type T>
void atomic_set(world& w, T* target, std::type_identity_t<T> value, int pe) {
  static_cast<void>(detail::fetch_update(w, detail::update_of(detail::atomic_update::set, target, value), pe));
}

/// @brief Writes `*target` on PE `pe`.
///
/// @return The old value.
template <amo_type T>
T atomic_swap(world& w, T* target, std::type_identity_t<T> value, int pe) {
  return detail::fetch_from<T>(w, detail::update_of(detail::atomic_update::swap, target, value), pe);
}
/// @brief Non-blocking atomic_swap().
template <amo_type T>
void atomic_swap_nbi(world& w, std::type_identity_t<T>* result, T* target, std::type_identity_t<T> value, int pe) {
  detail::fetch_nonblocking<T>(w, detail::update_of(detail::atomic_update::swap, target, value), result, pe);
}

/// @brief Writes `value` if `*target` on PE `pe` equals `condition`, bit for bit.
///
/// @return The old value.
template <amo_type T>
T atomic_compare_swap(world& w, T* target, std::type_identity_t<T> condition, std::type_identity_t<T> value, int pe) {
  return detail::fetch_from<T>(w, detail::update_of(detail::atomic_update::compare_swap, target, value, condition), pe);
}
/// @brief Non-blocking atomic_compare_swap().
template <amo_type T>
void atomic_compare_swap_nbi(world& w, std::type_identity_t<T>* result, T* target, std::type_identity_t<T> condition,
                             std::type_identity_t<T> value, int pe) {
  detail::fetch_nonblocking<T>(w, detail::update_of(detail::atomic_update::compare_swap, target, value, condition),
                               result, pe);
}

/// @brief Adds to `*target` on PE `pe`.
template <amo_add_type T>
void atomic_add(world& w, T* target, std::type_identity_t<T> value, int pe) {
  static_cast<void>(detail::fetch_update(w, detail::update_of(detail::atomic_update::add, target, value), pe));
}

/// @brief Adds to `*target` on PE `pe`.
///
/// @return The old value.
template <amo_add_type T>
T atomic_fetch_add(world& w, T* target, std::type_identity_t<T> value, int pe) {
  return detail::fetch_from<T>(w, detail::update_of(detail::atomic_update::add, target, value), pe);
}
/// @brief Non-blocking atomic_fetch_add().
template <amo_add_type T>
void atomic_fetch_add_nbi(world& w, std::type_identity_t<T>* result, T* target, std::type_identity_t<T> value, int pe) {
  detail::fetch_nonblocking<T>(w, detail::update_of(detail::atomic_update::add, target, value), result, pe);
}

/// @brief Adds 1 to `*target`.
template <amo_integer T>
void atomic_inc(world& w, T* target, int pe) {
  static_cast<void>(detail::fetch_update(w, detail::update_of(detail::atomic_update::add, target, T{1}), pe));
}

/// @brief Adds 1 to `*target`.
///
/// @return The old value.
template <amo_integer T>
T atomic_fetch_inc(world& w, T* target, int pe) {
  return detail::fetch_from<T>(w, detail::update_of(detail::atomic_update::add, target, T{1}), pe);
}
/// @brief Non-blocking atomic_fetch_inc().
template <amo_integer T>
void atomic_fetch_inc_nbi(world& w, std::type_identity_t<T>* result, T* target, int pe) {
  detail::fetch_nonblocking<T>(w, detail::update_of(detail::atomic_update::add, target, T{1}), result, pe);
}

/// @brief Clears the bits of `*target` that are zero in `value`.
template <amo_integer T>
void atomic_and(world& w, T* target, std::type_identity_t<T> value, int pe) {
  static_cast<void>(detail::fetch_update(w, detail::update_of(detail::atomic_update::bit_and, target, value), pe));
}

/// @brief Clears the bits of `*target` that are zero in `value`.
///
/// @return The old value.
template <amo_integer T>
T atomic_fetch_and(world& w, T* target, std::type_identity_t<T> value, int pe) {
  return detail::fetch_from<T>(w, detail::update_of(detail::atomic_update::bit_and, target, value), pe);
}
/// @brief Non-blocking atomic_fetch_and().
template <amo_integer T>
void atomic_fetch_and_nbi(world& w, std::type_identity_t<T>* result, T* target, std::type_identity_t<T> value, int pe) {
  detail::fetch_nonblocking<T>(w, detail::update_of(detail::atomic_update::bit_and, target, value), result, pe);
}

/// @brief Sets the bits of `*target` that are one in `value`.
template <amo_integer T>
void atomic_or(world& w, T* target, std::type_identity_t<T> value, int pe) {
  static_cast<void>(detail::fetch_update(w, detail::update_of(detail::atomic_update::bit_or, target, value), pe));
}

/// @brief Sets the bits of `*target` that are one in `value`.
///
/// @return The old value.
template <amo_integer T>
T atomic_fetch_or(world& w, T* target, std::type_identity_t<T> value, int pe) {
  return detail::fetch_from<T>(w, detail::update_of(detail::atomic_update::bit_or, target, value), pe);
}
/// @brief Non-blocking atomic_fetch_or().
template <amo_integer T>
void atomic_fetch_or_nbi(world& w, std::type_identity_t<T>* result, T* target, std::type_identity_t<T> value, int pe) {
  detail::fetch_nonblocking<T>(w, detail::update_of(detail::atomic_update::bit_or, target, value), result, pe);
}

/// @brief Flips the bits of `*target` that are one in `value`.
template <amo_integer T>
void atomic_xor(world& w, T* target, std::type_identity_t<T> value, int pe) {
  static_cast<void>(detail::fetch_update(w, detail::update_of(detail::atomic_update::bit_xor, target, value), pe));
}

/// @brief Flips the bits of `*target` that are one in `value`.
///
/// @return The old value.
template <amo_integer T>
T atomic_fetch_xor(world& w, T* target, std::type_identity_t<T> value, int pe) {
  return detail::fetch_from<T>(w, detail::update_of(detail::atomic_update::bit_xor, target, value), pe);
}
/// @brief Non-blocking atomic_fetch_xor().
template <amo_integer T>
void atomic_fetch_xor_nbi(world& w, std::type_identity_t<T>* result, T* target, std::type_identity_t<T> value, int pe) {
  detail::fetch_nonblocking<T>(w, detail::update_of(detail::atomic_update::bit_xor, target, value), result, pe);
}

/// @brief Writes `value` to `*target` if `value` is less than the old value.
template <amo_type T>
void atomic_min(world& w, T* target, std::type_identity_t<T> value, int pe) {
  static_cast<void>(detail::fetch_update(w, detail::update_of(detail::atomic_update::min, target, value), pe));
}

/// @brief Writes `value` to `*target` if `value` is less than the old value.
///
/// @return The old value.
template <amo_type T>
T atomic_fetch_min(world& w, T* target, std::type_identity_t<T> value, int pe) {
  return detail::fetch_from<T>(w, detail::update_of(detail::atomic_update::min, target, value), pe);
}
/// @brief Non-blocking atomic_fetch_min().
template <amo_type T>
void atomic_fetch_min_nbi(world& w, std::type_identity_t<T>* result, T* target, std::type_identity_t<T> value, int pe) {
  detail::fetch_nonblocking<T>(w, detail::update_of(detail::atomic_update::min, target, value), result, pe);
}

/// @brief Writes `value` to `*target` if `value` is greater than the old value.
template <amo_type T>
void atomic_max(world& w, T* target, std::type_identity_t<T> value, int pe) {
  static_cast<void>(detail::fetch_update(w, detail::update_of(detail::atomic_update::max, target, value), pe));
}

/// @brief Writes `value` to `*target` if `value` is greater than the old value.
///
/// @return The old value.
template <amo_type T>
T atomic_fetch_max(world& w, T* target, std::type_identity_t<T> value, int pe) {
  return detail::fetch_from<T>(w, detail::update_of(detail::atomic_update::max, target, value), pe);
}
/// @brief Non-blocking atomic_fetch_max().
template <amo_type T>
void atomic_fetch_max_nbi(world& w, std::type_identity_t<T>* result, T* target, std::type_identity_t<T> value, int pe) {
  detail::fetch_nonblocking<T>(w, detail::update_of(detail::atomic_update::max, target, value), result, pe);
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
