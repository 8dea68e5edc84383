/// @file
/// Atomic operations that a stream executes in its order. device/atomic.hpp describes the types and the meaning of the
/// operations.
///
/// Fetching functions write the old value to `*result`, which is memory of this PE. `*result` must be memory that
/// kernels can write: the heap, GPU memory or pinned host memory; on the host heap, any memory. The old value is valid
/// once the stream has executed the operation.
///
/// *Callers* any thread. *Order* the operation follows earlier work of the stream, and is complete before later work
/// begins. *Errors* as in stream_rma.hpp.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/host/untyped_operations.hpp"
#include "pgas/stream.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {
namespace detail {

template <class T>
void fetch_on_stream(world& w, const stream& on, const atomic_op& update, T* result, int pe) {
  if (result == nullptr)
    throw error(code::invalid_argument, "a fetching atomic on a stream: the place for the result is null");
  enqueue_update(on_stream(w, on), update, result, pe);
}

}  // namespace detail

/// @brief Reads `*target` on PE `pe`.
template <amo_add_type T>
void atomic_fetch(world& w, const stream& on, std::type_identity_t<T>* result, const T* target, int pe) {
  detail::fetch_on_stream<T>(w, on, detail::update_of(detail::atomic_update::fetch, target), result, pe);
}

/// @brief Writes `*target` on PE `pe`.
template <amo_add_type T>
void atomic_set(world& w, const stream& on, T* target, std::type_identity_t<T> value, int pe) {
  detail::enqueue_update(detail::on_stream(w, on), detail::update_of(detail::atomic_update::set, target, value),
                         nullptr, pe);
}

/// @brief Writes `*target` on PE `pe`.
template <amo_type T>
void atomic_swap(world& w, const stream& on, std::type_identity_t<T>* result, T* target, std::type_identity_t<T> value,
                 int pe) {
  detail::fetch_on_stream<T>(w, on, detail::update_of(detail::atomic_update::swap, target, value), result, pe);
}

/// @brief Writes `value` if `*target` on PE `pe` equals `condition`, bit for bit.
template <amo_type T>
void atomic_compare_swap(world& w, const stream& on, std::type_identity_t<T>* result, T* target,
                         std::type_identity_t<T> condition, std::type_identity_t<T> value, int pe) {
  detail::fetch_on_stream<T>(w, on, detail::update_of(detail::atomic_update::compare_swap, target, value, condition),
                             result, pe);
}

/// @brief Adds to `*target` on PE `pe`.
template <amo_add_type T>
void atomic_add(world& w, const stream& on, T* target, std::type_identity_t<T> value, int pe) {
  detail::enqueue_update(detail::on_stream(w, on), detail::update_of(detail::atomic_update::add, target, value),
                         nullptr, pe);
}

/// @brief Adds to `*target` on PE `pe`.
template <amo_add_type T>
void atomic_fetch_add(world& w, const stream& on, std::type_identity_t<T>* result, T* target,
                      std::type_identity_t<T> value, int pe) {
  detail::fetch_on_stream<T>(w, on, detail::update_of(detail::atomic_update::add, target, value), result, pe);
}

/// @brief Adds 1 to `*target`.
template <amo_integer T>
void atomic_inc(world& w, const stream& on, T* target, int pe) {
  detail::enqueue_update(detail::on_stream(w, on), detail::update_of(detail::atomic_update::add, target, T{1}), nullptr,
                         pe);
}

/// @brief Adds 1 to `*target`.
template <amo_integer T>
void atomic_fetch_inc(world& w, const stream& on, std::type_identity_t<T>* result, T* target, int pe) {
  detail::fetch_on_stream<T>(w, on, detail::update_of(detail::atomic_update::add, target, T{1}), result, pe);
}

/// @brief Clears the bits of `*target` that are zero in `value`.
template <amo_integer T>
void atomic_and(world& w, const stream& on, T* target, std::type_identity_t<T> value, int pe) {
  detail::enqueue_update(detail::on_stream(w, on), detail::update_of(detail::atomic_update::bit_and, target, value),
                         nullptr, pe);
}

/// @brief Clears the bits of `*target` that are zero in `value`.
template <amo_integer T>
void atomic_fetch_and(world& w, const stream& on, std::type_identity_t<T>* result, T* target,
                      std::type_identity_t<T> value, int pe) {
  detail::fetch_on_stream<T>(w, on, detail::update_of(detail::atomic_update::bit_and, target, value), result, pe);
}

/// @brief Sets the bits of `*target` that are one in `value`.
template <amo_integer T>
void atomic_or(world& w, const stream& on, T* target, std::type_identity_t<T> value, int pe) {
  detail::enqueue_update(detail::on_stream(w, on), detail::update_of(detail::atomic_update::bit_or, target, value),
                         nullptr, pe);
}

/// @brief Sets the bits of `*target` that are one in `value`.
template <amo_integer T>
void atomic_fetch_or(world& w, const stream& on, std::type_identity_t<T>* result, T* target,
                     std::type_identity_t<T> value, int pe) {
  detail::fetch_on_stream<T>(w, on, detail::update_of(detail::atomic_update::bit_or, target, value), result, pe);
}

/// @brief Flips the bits of `*target` that are one in `value`.
template <amo_integer T>
void atomic_xor(world& w, const stream& on, T* target, std::type_identity_t<T> value, int pe) {
  detail::enqueue_update(detail::on_stream(w, on), detail::update_of(detail::atomic_update::bit_xor, target, value),
                         nullptr, pe);
}

/// @brief Flips the bits of `*target` that are one in `value`.
template <amo_integer T>
void atomic_fetch_xor(world& w, const stream& on, std::type_identity_t<T>* result, T* target,
                      std::type_identity_t<T> value, int pe) {
  detail::fetch_on_stream<T>(w, on, detail::update_of(detail::atomic_update::bit_xor, target, value), result, pe);
}

/// @brief Writes `value` to `*target` if `value` is less than the old value.
template <amo_type T>
void atomic_min(world& w, const stream& on, T* target, std::type_identity_t<T> value, int pe) {
  detail::enqueue_update(detail::on_stream(w, on), detail::update_of(detail::atomic_update::min, target, value),
                         nullptr, pe);
}

/// @brief Writes `value` to `*target` if `value` is less than the old value.
template <amo_type T>
void atomic_fetch_min(world& w, const stream& on, std::type_identity_t<T>* result, T* target,
                      std::type_identity_t<T> value, int pe) {
  detail::fetch_on_stream<T>(w, on, detail::update_of(detail::atomic_update::min, target, value), result, pe);
}

/// @brief Writes `value` to `*target` if `value` is greater than the old value.
template <amo_type T>
void atomic_max(world& w, const stream& on, T* target, std::type_identity_t<T> value, int pe) {
  detail::enqueue_update(detail::on_stream(w, on), detail::update_of(detail::atomic_update::max, target, value),
                         nullptr, pe);
}

/// @brief Writes `value` to `*target` if `value` is greater than the old value.
template <amo_type T>
void atomic_fetch_max(world& w, const stream& on, std::type_identity_t<T>* result, T* target,
                      std::type_identity_t<T> value, int pe) {
  detail::fetch_on_stream<T>(w, on, detail::update_of(detail::atomic_update::max, target, value), result, pe);
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
