/// @file
/// Signals that the host calls: copies with a trailing signal, signals without data, and waits for signals. wait.hpp
/// has the other waits.
///
/// *Callers* any thread. *Errors* as in rma.hpp.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/host/untyped_operations.hpp"
#include "pgas/signal_types.hpp"
#include "pgas/type_requirements.hpp"
#include "pgas/wait.hpp"

namespace pgas {

/// @brief Like put(), but with a trailing signal.
///
/// *Order* a PE that sees the signal sees the data.
template <rma_type T>
void put_signal(world& w, T* destination, const T* source, std::size_t count, signal_t* signal, signal_t value,
                signal_op op, int pe) {
  detail::put_signal_bytes(detail::blocking(w), destination, source, detail::byte_count(count, sizeof(T)), signal,
                           value, op, pe);
}
/// @brief Non-blocking put_signal().
template <rma_type T>
void put_signal_nbi(world& w, T* destination, const T* source, std::size_t count, signal_t* signal, signal_t value,
                    signal_op op, int pe) {
  detail::put_signal_bytes(detail::nonblocking(w), destination, source, detail::byte_count(count, sizeof(T)), signal,
                           value, op, pe);
}

/// @brief Sets a signal word on PE `pe`.
///
/// *Order* a PE that sees the new value through a wait, a test or signal_fetch also sees all earlier host operations of
/// this thread on that PE.
inline void signal_set(world& w, signal_t* signal, signal_t value, int pe) {
  detail::fetch_update(w, {detail::atomic_update::set, detail::datatype::u64, signal, value, 0, true}, pe);
}
/// @brief Adds to a signal word on PE `pe`.
///
/// *Order* as signal_set().
inline void signal_add(world& w, signal_t* signal, signal_t value, int pe) {
  detail::fetch_update(w, {detail::atomic_update::add, detail::datatype::u64, signal, value, 0, true}, pe);
}
/// @brief Reads this PE's own signal word.
[[nodiscard]] inline signal_t signal_fetch(world& w, const signal_t* signal) {
  return detail::fetch_update(w, {detail::atomic_update::fetch, detail::datatype::u64, signal}, w.my_pe());
}
/// @brief Calls wait_until() on a signal word.
inline signal_t signal_wait_until(world& w, const signal_t* signal, cmp op, signal_t value) {
  return wait_until(w, signal, op, value);
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
