/// @file
/// Signals on a stream. The functions have the names of signal.hpp and take a stream after the world. A call enqueues
/// the operation and returns. CUDA graphs can capture all operations.
///
/// *Callers* any thread. *Order* the operation follows earlier work of the stream, and is complete before later work
/// begins. *Errors* as in stream_rma.hpp.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/host/untyped_operations.hpp"
#include "pgas/signal_types.hpp"
#include "pgas/stream.hpp"
#include "pgas/stream_wait.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {

/// @brief Like put_signal(), in the order of the stream.
///
/// *Order* a PE that sees the signal sees the data and all earlier work of the stream.
template <rma_type T>
void put_signal(world& w, const stream& on, T* destination, const T* source, std::size_t count, signal_t* signal,
                signal_t value, signal_op op, int pe) {
  detail::put_signal_bytes(detail::on_stream(w, on), destination, source, detail::byte_count(count, sizeof(T)), signal,
                           value, op, pe);
}

/// @brief Like signal_set(), in the order of the stream.
///
/// *Order* a PE that sees the signal sees all earlier work of the stream.
inline void signal_set(world& w, const stream& on, signal_t* signal, signal_t value, int pe) {
  detail::enqueue_update(detail::on_stream(w, on),
                         {detail::atomic_update::set, detail::datatype::u64, signal, value, 0, true}, nullptr, pe);
}
/// @brief Like signal_add(), in the order of the stream.
///
/// *Order* as signal_set().
inline void signal_add(world& w, const stream& on, signal_t* signal, signal_t value, int pe) {
  detail::enqueue_update(detail::on_stream(w, on),
                         {detail::atomic_update::add, detail::datatype::u64, signal, value, 0, true}, nullptr, pe);
}
/// @brief Calls wait_until() on a signal word.
inline void signal_wait_until(world& w, const stream& on, const signal_t* signal, cmp op, signal_t value) {
  wait_until(w, on, signal, op, value);
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
