/// @file
/// One-sided operations on a stream. The functions have the names of rma.hpp and take a stream after the world. A call
/// enqueues the operation and returns. CUDA graphs can capture all operations.
///
/// Local memory may be of any kind: the heap, GPU memory, pinned or pageable host memory. Local memory must stay valid,
/// and sources unchanged, until the stream has executed the operation. Pageable memory is slow: CUDA copies a pageable
/// source in blocks during the call, and with a pageable destination the call can last until the stream has executed
/// the operation. In a capture, host memory must be pinned (cudaHostAlloc, cudaHostRegister). This header includes
/// signals and waits.
///
/// *Callers* any thread. *Order* the operation follows earlier work of the stream, and is complete at its target before
/// later work begins. *Errors* arguments are checked at the call: pe_out_of_range, outside_heap, misaligned,
/// invalid_argument (also for a stream of another world); capturing, for pageable memory in a capture.
/// stream::synchronize() throws later failures.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/host/untyped_operations.hpp"
#include "pgas/stream.hpp"
#include "pgas/stream_signal.hpp"  // IWYU pragma: export
#include "pgas/stream_wait.hpp"    // IWYU pragma: export
#include "pgas/type_requirements.hpp"

namespace pgas {

/// @brief Like put(), in the order of the stream.
template <rma_type T>
void put(world& w, const stream& on, T* destination, const T* source, std::size_t count, int pe) {
  detail::put_bytes(detail::on_stream(w, on), destination, source, detail::byte_count(count, sizeof(T)), pe);
}
/// @brief Like get(), in the order of the stream.
template <rma_type T>
void get(world& w, const stream& on, T* destination, const T* source, std::size_t count, int pe) {
  detail::get_bytes(detail::on_stream(w, on), destination, source, detail::byte_count(count, sizeof(T)), pe);
}

/// @brief Like p(), in the order of the stream.
///
/// The call copies the value.
template <rma_type T>
requires(sizeof(T) <= 16) void p(world& w, const stream& on, T* destination, std::type_identity_t<T> value, int pe) {
  detail::store_bytes(detail::on_stream(w, on), destination, &value, sizeof(T), alignof(T), pe);
}
/// @brief Like g(), in the order of the stream: reads `*source` on PE `pe` into `*result`.
template <rma_type T>
void g(world& w, const stream& on, T* result, const T* source, int pe) {
  detail::load_bytes(detail::on_stream(w, on), result, source, sizeof(T), pe);
}

/// @brief Like iput(), in the order of the stream.
template <rma_type T>
void iput(world& w, const stream& on, T* destination, const T* source, std::ptrdiff_t destination_stride,
          std::ptrdiff_t source_stride, std::size_t count, int pe) {
  detail::put_strided(detail::on_stream(w, on), destination, source,
                      {destination_stride, source_stride, 1, count, sizeof(T)}, pe);
}
/// @brief Like iget(), in the order of the stream.
template <rma_type T>
void iget(world& w, const stream& on, T* destination, const T* source, std::ptrdiff_t destination_stride,
          std::ptrdiff_t source_stride, std::size_t count, int pe) {
  detail::get_strided(detail::on_stream(w, on), destination, source,
                      {destination_stride, source_stride, 1, count, sizeof(T)}, pe);
}
/// @brief Like ibput(), in the order of the stream.
template <rma_type T>
void ibput(world& w, const stream& on, T* destination, const T* source, std::ptrdiff_t destination_stride,
           std::ptrdiff_t source_stride, std::size_t block_size, std::size_t count, int pe) {
  detail::put_strided(detail::on_stream(w, on), destination, source,
                      {destination_stride, source_stride, block_size, count, sizeof(T)}, pe);
}
/// @brief Like ibget(), in the order of the stream.
template <rma_type T>
void ibget(world& w, const stream& on, T* destination, const T* source, std::ptrdiff_t destination_stride,
           std::ptrdiff_t source_stride, std::size_t block_size, std::size_t count, int pe) {
  detail::get_strided(detail::on_stream(w, on), destination, source,
                      {destination_stride, source_stride, block_size, count, sizeof(T)}, pe);
}

/// @brief Like put_list(), in the order of the stream.
///
/// A CUDA graph that captured the call reads the arrays of the list each time it runs. If the stream sends a signal or
/// a timeline value after the copies, a process that sees this signal or value also sees all blocks.
inline void put_list(world& w, const stream& on, const copy_list& list, int pe, unsigned most_blocks = 0) {
  detail::put_blocks(detail::on_stream(w, on), list, pe, most_blocks);
}
/// @brief Like get_list(), in the order of the stream.
inline void get_list(world& w, const stream& on, const copy_list& list, int pe, unsigned most_blocks = 0) {
  detail::get_blocks(detail::on_stream(w, on), list, pe, most_blocks);
}

/// @brief Orders earlier work of the stream, including kernels, before later work to the same PE.
PGAS_API void fence(world& w, const stream& on);
/// @brief Completes earlier work of the stream, including kernels, at its targets before later work begins.
PGAS_API void quiet(world& w, const stream& on);

}  // namespace pgas

#include "pgas/detail/names_end.inc"
