/// @file
/// Signals and waits on a stream: the names of signal_wait.hpp with a stream after the world. Each is executed in the
/// order of the stream; the call returns before. All can be captured in CUDA graphs.
///
/// *Callers* any thread. *Order* after earlier work of the stream, complete before later work. *Errors* as in
/// stream_rma.hpp.
#pragma once

#include "pgas/impl/untyped_operations.hpp"
#include "pgas/stream.hpp"

namespace pgas {

/// signal_set() in the order of the stream. *Order* a PE that sees the signal sees all earlier work of the stream.
inline void signal_set(world& w, const stream& on, signal_t* signal, signal_t value, int pe) {
  detail::enqueue_update(detail::on_stream(w, on),
                         {detail::atomic_update::set, detail::datatype::u64, signal, value, 0, true}, nullptr, pe);
}
/// signal_add() in the order of the stream. *Order* as signal_set().
inline void signal_add(world& w, const stream& on, signal_t* signal, signal_t value, int pe) {
  detail::enqueue_update(detail::on_stream(w, on),
                         {detail::atomic_update::add, detail::datatype::u64, signal, value, 0, true}, nullptr, pe);
}

/// Holds the stream until this PE's own `*variable` satisfies `seen op value`. Bounded as all waits: it ends, and
/// stream::synchronize() throws, when the world has failed or the deadline of waits has passed.
template <wait_type T>
void wait_until(world& w, const stream& on, const T* variable, cmp op, std::type_identity_t<T> value) {
  detail::enqueue_wait(w, on, detail::set_of(variable, 1, nullptr, op, value));
}
/// wait_until() on a signal word.
inline void signal_wait_until(world& w, const stream& on, const signal_t* signal, cmp op, signal_t value) {
  wait_until(w, on, signal, op, value);
}
/// Holds the stream until every word of the set has satisfied the comparison. `status`, where not null, excludes every
/// word i with status[i] != 0. *Memory* `status` and `values` must be readable for kernels (the heap, GPU memory,
/// pinned host memory; on the host heap any); the stream reads them when it executes the wait.
template <wait_type T>
void wait_until_all(world& w, const stream& on, const T* variables, std::size_t count, const int* status, cmp op,
                    std::type_identity_t<T> value) {
  detail::enqueue_wait(w, on, detail::set_of(variables, count, status, op, value));
}
/// The same with a value for each word.
template <wait_type T>
void wait_until_all(world& w, const stream& on, const T* variables, std::size_t count, const int* status, cmp op,
                    const T* values) {
  detail::enqueue_wait(w, on, detail::set_of(variables, count, status, op, values));
}

}  // namespace pgas
