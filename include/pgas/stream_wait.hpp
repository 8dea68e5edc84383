/// @file
/// Waits on a stream. The functions have the names of wait.hpp and take a stream after the world. A call enqueues the
/// wait and returns. CUDA graphs can capture all waits.
///
/// *Callers* any thread. *Order* the wait follows earlier work of the stream, and is complete before later work begins.
/// *Errors* as in stream_rma.hpp.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/host/untyped_operations.hpp"
#include "pgas/signal_types.hpp"
#include "pgas/stream.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {

/// @brief Makes the stream wait until this PE's `*variable` satisfies `seen op value`.
///
/// The wait ends, and stream::synchronize() throws, if the world fails or PGAS_WAIT_TIMEOUT expires.
template <wait_type T>
void wait_until(world& w, const stream& on, const T* variable, cmp op, std::type_identity_t<T> value) {
  detail::enqueue_wait(w, on, detail::set_of(variable, 1, nullptr, op, value));
}
/// @brief Makes the stream wait until every word of the set has satisfied the comparison.
///
/// A `status` that is not null excludes every word i with status[i] != 0.
///
/// *Memory* kernels must be able to read `status` and `values` (the heap, GPU memory, pinned host memory; any memory on
/// the host heap). The stream reads both arrays when it executes the wait.
template <wait_type T>
void wait_until_all(world& w, const stream& on, const T* variables, std::size_t count, const int* status, cmp op,
                    std::type_identity_t<T> value) {
  detail::enqueue_wait(w, on, detail::set_of(variables, count, status, op, value));
}
/// @brief Like wait_until_all(), with a value for each word.
template <wait_type T>
void wait_until_all(world& w, const stream& on, const T* variables, std::size_t count, const int* status, cmp op,
                    const T* values) {
  detail::enqueue_wait(w, on, detail::set_of(variables, count, status, op, values));
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
