/// @file
/// One-sided operations on a stream: the names of rma.hpp with a stream after the world. Each is executed in the order
/// of the stream; the call returns before. All can be captured in CUDA graphs.
///
/// Local memory may be of any kind: the heap, GPU memory, pinned or pageable host memory. It must stay valid, and
/// sources unchanged, until the stream has executed the operation. Pageable memory is slow: CUDA copies a pageable
/// source in blocks during the call, and for a pageable destination the call may last until the stream has executed it.
/// In a capture host memory must be pinned (cudaHostAlloc, cudaHostRegister).
///
/// *Callers* any thread. *Order* after earlier work of the stream; complete at its target before later work. *Errors*
/// arguments are checked at the call: pe_out_of_range, outside_heap, misaligned, invalid_argument (also for a stream of
/// another world); capturing, for pageable memory in a capture. stream::synchronize() throws later failures.
#pragma once

#include "pgas/impl/untyped_operations.hpp"
#include "pgas/stream.hpp"

namespace pgas {

/// put() in the order of the stream.
template <rma_type T>
void put(world& w, const stream& on, T* destination, const T* source, std::size_t count, int pe) {
  detail::put_bytes(detail::on_stream(w, on), destination, source, detail::byte_count(count, sizeof(T)), pe);
}
/// get() in the order of the stream.
template <rma_type T>
void get(world& w, const stream& on, T* destination, const T* source, std::size_t count, int pe) {
  detail::get_bytes(detail::on_stream(w, on), destination, source, detail::byte_count(count, sizeof(T)), pe);
}

/// p() in the order of the stream. The value is copied at the call.
template <rma_type T>
requires(sizeof(T) <= 16) void p(world& w, const stream& on, T* destination, std::type_identity_t<T> value, int pe) {
  detail::store_bytes(detail::on_stream(w, on), destination, &value, sizeof(T), alignof(T), pe);
}
/// g() in the order of the stream: reads `*source` on PE `pe` into `*result`.
template <rma_type T>
void g(world& w, const stream& on, T* result, const T* source, int pe) {
  detail::load_bytes(detail::on_stream(w, on), result, source, sizeof(T), pe);
}

/// iput() in the order of the stream.
template <rma_type T>
void iput(world& w, const stream& on, T* destination, const T* source, std::ptrdiff_t destination_stride,
          std::ptrdiff_t source_stride, std::size_t count, int pe) {
  detail::put_strided(detail::on_stream(w, on), destination, source,
                      {destination_stride, source_stride, 1, count, sizeof(T)}, pe);
}
/// iget() in the order of the stream.
template <rma_type T>
void iget(world& w, const stream& on, T* destination, const T* source, std::ptrdiff_t destination_stride,
          std::ptrdiff_t source_stride, std::size_t count, int pe) {
  detail::get_strided(detail::on_stream(w, on), destination, source,
                      {destination_stride, source_stride, 1, count, sizeof(T)}, pe);
}
/// ibput() in the order of the stream.
template <rma_type T>
void ibput(world& w, const stream& on, T* destination, const T* source, std::ptrdiff_t destination_stride,
           std::ptrdiff_t source_stride, std::size_t block_size, std::size_t count, int pe) {
  detail::put_strided(detail::on_stream(w, on), destination, source,
                      {destination_stride, source_stride, block_size, count, sizeof(T)}, pe);
}
/// ibget() in the order of the stream.
template <rma_type T>
void ibget(world& w, const stream& on, T* destination, const T* source, std::ptrdiff_t destination_stride,
           std::ptrdiff_t source_stride, std::size_t block_size, std::size_t count, int pe) {
  detail::get_strided(detail::on_stream(w, on), destination, source,
                      {destination_stride, source_stride, block_size, count, sizeof(T)}, pe);
}

/// put_signal() in the order of the stream. *Order* a PE that sees the signal sees the data and all earlier work of
/// the stream.
template <rma_type T>
void put_signal(world& w, const stream& on, T* destination, const T* source, std::size_t count, signal_t* signal,
                signal_t value, signal_op op, int pe) {
  detail::put_signal_bytes(detail::on_stream(w, on), destination, source, detail::byte_count(count, sizeof(T)), signal,
                           value, op, pe);
}
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

/// Orders earlier work of the stream, kernels included, before later work, to each PE.
PGAS_API void fence(world& w, const stream& on);
/// Completes earlier work of the stream, kernels included, at its targets before later work begins.
PGAS_API void quiet(world& w, const stream& on);

/// Collective: a barrier of all PEs in the order of the stream; the effects of earlier work are visible to every PE
/// after it. *Order* all PEs enqueue the barriers and syncs of a world in the same order, on one stream at a time.
PGAS_API void barrier_all(world& w, const stream& on);
/// Collective: holds the stream until the streams of all PEs are at the call. *Order* none for earlier work.
PGAS_API void sync_all(world& w, const stream& on);

}  // namespace pgas
