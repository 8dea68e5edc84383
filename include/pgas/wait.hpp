/// @file
/// Waits and tests that the host calls, on words that other PEs write by put_signal, p, or atomic operations.
///
/// A wait, or a test that returns true, acquires: later host operations see the data sent before the value. Waits are
/// bounded: they end with the first failure of the world, and with wait_timeout if PGAS_WAIT_TIMEOUT is set. Words
/// are integers of 2, 4 or 8 bytes in this PE's memory. In sets, a `status` that is not null excludes every word i with
/// status[i] != 0. `status`, `values` and `indices` are host memory.
///
/// *Callers* any thread. *Errors* as in rma.hpp.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/host/untyped_operations.hpp"
#include "pgas/signal_types.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {

/// @brief Waits until this PE's own `*variable` satisfies `seen op value`.
///
/// @return The value that satisfied the comparison.
template <wait_type T>
T wait_until(world& w, const T* variable, cmp op, std::type_identity_t<T> value) {
  return detail::from_bits<T>(detail::wait_word(w, detail::set_of(variable, 1, nullptr, op, value)));
}

/// @brief Waits until every word of the set has satisfied the comparison with `value`.
template <wait_type T>
void wait_until_all(world& w, const T* variables, std::size_t count, const int* status, cmp op,
                    std::type_identity_t<T> value) {
  detail::wait_words(w, detail::set_of(variables, count, status, op, value), detail::which::all, nullptr);
}
/// @brief Like wait_until_all(), with a value for each word.
template <wait_type T>
void wait_until_all(world& w, const T* variables, std::size_t count, const int* status, cmp op, const T* values) {
  detail::wait_words(w, detail::set_of(variables, count, status, op, values), detail::which::all, nullptr);
}

/// @brief Waits until a word of the set satisfies the comparison.
///
/// @return The index of the word; SIZE_MAX if the set is empty. If several words satisfy the comparison, the result is
/// any of these words, and repeated calls return each of them eventually.
template <wait_type T>
std::size_t wait_until_any(world& w, const T* variables, std::size_t count, const int* status, cmp op,
                           std::type_identity_t<T> value) {
  return detail::wait_words(w, detail::set_of(variables, count, status, op, value), detail::which::any, nullptr);
}
/// @brief Like wait_until_any(), with a value for each word.
template <wait_type T>
std::size_t wait_until_any(world& w, const T* variables, std::size_t count, const int* status, cmp op,
                           const T* values) {
  return detail::wait_words(w, detail::set_of(variables, count, status, op, values), detail::which::any, nullptr);
}

/// @brief Waits until some words of the set satisfy the comparison.
///
/// @return The number of these words, with their indices in ascending order in `indices`; 0 if the set is empty.
template <wait_type T>
std::size_t wait_until_some(world& w, const T* variables, std::size_t count, std::size_t* indices, const int* status,
                            cmp op, std::type_identity_t<T> value) {
  return detail::wait_words(w, detail::set_of(variables, count, status, op, value), detail::which::some, indices);
}
/// @brief Like wait_until_some(), with a value for each word.
template <wait_type T>
std::size_t wait_until_some(world& w, const T* variables, std::size_t count, std::size_t* indices, const int* status,
                            cmp op, const T* values) {
  return detail::wait_words(w, detail::set_of(variables, count, status, op, values), detail::which::some, indices);
}

/// @brief Whether this PE's own `*variable` now satisfies `seen op value`.
template <wait_type T>
[[nodiscard]] bool test(world& w, const T* variable, cmp op, std::type_identity_t<T> value) {
  return detail::test_words(w, detail::set_of(variable, 1, nullptr, op, value), detail::which::all, nullptr) != 0;
}

/// @brief Whether every word of the set satisfies the comparison now; true if the set is empty.
template <wait_type T>
[[nodiscard]] bool test_all(world& w, const T* variables, std::size_t count, const int* status, cmp op,
                            std::type_identity_t<T> value) {
  return detail::test_words(w, detail::set_of(variables, count, status, op, value), detail::which::all, nullptr) != 0;
}
/// @brief Like test_all(), with a value for each word.
template <wait_type T>
[[nodiscard]] bool test_all(world& w, const T* variables, std::size_t count, const int* status, cmp op,
                            const T* values) {
  return detail::test_words(w, detail::set_of(variables, count, status, op, values), detail::which::all, nullptr) != 0;
}

/// @brief The index of a word of the set that satisfies the comparison now; SIZE_MAX if no word does.
///
/// If several words satisfy the comparison, the result is any of these words, and repeated calls return each of them
/// eventually.
template <wait_type T>
[[nodiscard]] std::size_t test_any(world& w, const T* variables, std::size_t count, const int* status, cmp op,
                                   std::type_identity_t<T> value) {
  return detail::test_words(w, detail::set_of(variables, count, status, op, value), detail::which::any, nullptr);
}
/// @brief Like test_any(), with a value for each word.
template <wait_type T>
[[nodiscard]] std::size_t test_any(world& w, const T* variables, std::size_t count, const int* status, cmp op,
                                   const T* values) {
  return detail::test_words(w, detail::set_of(variables, count, status, op, values), detail::which::any, nullptr);
}

/// @brief The number of words of the set that satisfy the comparison now, and their indices in ascending order.
template <wait_type T>
[[nodiscard]] std::size_t test_some(world& w, const T* variables, std::size_t count, std::size_t* indices,
                                    const int* status, cmp op, std::type_identity_t<T> value) {
  return detail::test_words(w, detail::set_of(variables, count, status, op, value), detail::which::some, indices);
}
/// @brief Like test_some(), with a value for each word.
template <wait_type T>
[[nodiscard]] std::size_t test_some(world& w, const T* variables, std::size_t count, std::size_t* indices,
                                    const int* status, cmp op, const T* values) {
  return detail::test_words(w, detail::set_of(variables, count, status, op, values), detail::which::some, indices);
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
