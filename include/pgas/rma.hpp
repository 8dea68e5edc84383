/// @file
/// One-sided operations that the host calls. The functions have the names of the device operations and take the world
/// in place of the context. The functions work on both heaps. This header declares the copies and includes atomics,
/// signals and waits.
///
/// Local memory may be of any kind: the heap, GPU memory, pinned or pageable host memory.
///
/// Functions whose names end in `_nbi` return when the operation is enqueued. The local memory of `_nbi` functions must
/// stay valid and unchanged until quiet(). Operations on direct peers run in the order of the calls;
/// device/MEMORY_MODEL.md describes the order for proxied peers. Functions without `_nbi` return when the operation is
/// complete at its target.
///
/// *Callers* any thread. *Errors* of all functions: pe_out_of_range, outside_heap, misaligned, invalid_argument; the
/// first failure of the world. The functions check all arguments first.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/atomic.hpp"  // IWYU pragma: export
#include "pgas/detail/host/untyped_operations.hpp"
#include "pgas/signal.hpp"  // IWYU pragma: export
#include "pgas/type_requirements.hpp"
#include "pgas/wait.hpp"  // IWYU pragma: export
#include "pgas/world.hpp"

namespace pgas {

/// @brief Copies `count` elements from local memory to `destination` on PE `pe`.
template <rma_type T>
void put(world& w, T* destination, const T* source, std::size_t count, int pe) {
  detail::put_bytes(detail::blocking(w), destination, source, detail::byte_count(count, sizeof(T)), pe);
}
/// @brief Non-blocking put().
template <rma_type T>
void put_nbi(world& w, T* destination, const T* source, std::size_t count, int pe) {
  detail::put_bytes(detail::nonblocking(w), destination, source, detail::byte_count(count, sizeof(T)), pe);
}

/// @brief Copies `count` elements from `source` on PE `pe` to local memory.
template <rma_type T>
void get(world& w, T* destination, const T* source, std::size_t count, int pe) {
  detail::get_bytes(detail::blocking(w), destination, source, detail::byte_count(count, sizeof(T)), pe);
}
/// @brief Non-blocking get().
template <rma_type T>
void get_nbi(world& w, T* destination, const T* source, std::size_t count, int pe) {
  detail::get_bytes(detail::nonblocking(w), destination, source, detail::byte_count(count, sizeof(T)), pe);
}

/// @brief Writes one value to `destination` on PE `pe`.
///
/// A store of 1, 2, 4 or 8 bytes is single-copy atomic, so a wait can compare the value.
template <rma_type T>
void p(world& w, T* destination, std::type_identity_t<T> value, int pe) {
  if constexpr (sizeof(T) <= 16)
    detail::store_bytes(detail::blocking(w), destination, &value, sizeof(T), alignof(T), pe);
  else
    detail::put_bytes(detail::blocking(w), destination, &value, sizeof(T), pe);
}

/// @brief Reads one value from `source` on PE `pe`.
template <rma_type T>
[[nodiscard]] T g(world& w, const T* source, int pe) {
  T value;
  detail::load_bytes(detail::blocking(w), &value, source, sizeof(T), pe);
  return value;
}

/// @brief Copies `count` elements to PE `pe`: element i goes from `source[i * source_stride]` to `destination[i *
/// destination_stride]`.
///
/// Strides are numbers of elements and may be negative. Elements of the destination must not overlap.
template <rma_type T>
void iput(world& w, T* destination, const T* source, std::ptrdiff_t destination_stride, std::ptrdiff_t source_stride,
          std::size_t count, int pe) {
  detail::put_strided(detail::blocking(w), destination, source,
                      {destination_stride, source_stride, 1, count, sizeof(T)}, pe);
}
/// @brief Non-blocking iput().
template <rma_type T>
void iput_nbi(world& w, T* destination, const T* source, std::ptrdiff_t destination_stride,
              std::ptrdiff_t source_stride, std::size_t count, int pe) {
  detail::put_strided(detail::nonblocking(w), destination, source,
                      {destination_stride, source_stride, 1, count, sizeof(T)}, pe);
}

/// @brief Copies `count` elements from PE `pe`: element i goes from `source[i * source_stride]` to `destination[i *
/// destination_stride]`.
template <rma_type T>
void iget(world& w, T* destination, const T* source, std::ptrdiff_t destination_stride, std::ptrdiff_t source_stride,
          std::size_t count, int pe) {
  detail::get_strided(detail::blocking(w), destination, source,
                      {destination_stride, source_stride, 1, count, sizeof(T)}, pe);
}
/// @brief Non-blocking iget().
template <rma_type T>
void iget_nbi(world& w, T* destination, const T* source, std::ptrdiff_t destination_stride,
              std::ptrdiff_t source_stride, std::size_t count, int pe) {
  detail::get_strided(detail::nonblocking(w), destination, source,
                      {destination_stride, source_stride, 1, count, sizeof(T)}, pe);
}

/// @brief Like iput(), for `count` blocks of `block_size` elements.
///
/// A stride is the number of elements from the start of one block to the start of the next block.
template <rma_type T>
void ibput(world& w, T* destination, const T* source, std::ptrdiff_t destination_stride, std::ptrdiff_t source_stride,
           std::size_t block_size, std::size_t count, int pe) {
  detail::put_strided(detail::blocking(w), destination, source,
                      {destination_stride, source_stride, block_size, count, sizeof(T)}, pe);
}
/// @brief Non-blocking ibput().
template <rma_type T>
void ibput_nbi(world& w, T* destination, const T* source, std::ptrdiff_t destination_stride,
               std::ptrdiff_t source_stride, std::size_t block_size, std::size_t count, int pe) {
  detail::put_strided(detail::nonblocking(w), destination, source,
                      {destination_stride, source_stride, block_size, count, sizeof(T)}, pe);
}

/// @brief Like iget(), for `count` blocks of `block_size` elements.
template <rma_type T>
void ibget(world& w, T* destination, const T* source, std::ptrdiff_t destination_stride, std::ptrdiff_t source_stride,
           std::size_t block_size, std::size_t count, int pe) {
  detail::get_strided(detail::blocking(w), destination, source,
                      {destination_stride, source_stride, block_size, count, sizeof(T)}, pe);
}
/// @brief Non-blocking ibget().
template <rma_type T>
void ibget_nbi(world& w, T* destination, const T* source, std::ptrdiff_t destination_stride,
               std::ptrdiff_t source_stride, std::size_t block_size, std::size_t count, int pe) {
  detail::get_strided(detail::nonblocking(w), destination, source,
                      {destination_stride, source_stride, block_size, count, sizeof(T)}, pe);
}

/// @brief Copies the blocks of a list to PE `pe`.
///
/// A kernel of the library checks and copies the blocks. If a block is outside the heap, the world fails with
/// PGAS-E0302. Other blocks of the list might already be copied. If all blocks have 8 MiB or more and the host can
/// read the list during the call (pages without arrays of indices, or arrays in pageable memory), the copy engines copy
/// the blocks, and the call throws outside_heap before the first copy.
///
/// *Memory* in contrast to other functions, the local memory of all blocks must be memory that kernels can access: the
/// heap, GPU memory or pinned host memory; on the host heap any memory. The arrays of the list are in any memory
/// (copy_list). The base of symmetric pages is symmetric memory.
/// @param most_blocks the largest number of thread blocks, and therefore of multiprocessors, that the kernel uses; 0:
/// the library determines the number
inline void put_list(world& w, const copy_list& list, int pe, unsigned most_blocks = 0) {
  detail::put_blocks(detail::blocking(w), list, pe, most_blocks);
}
/// @brief Non-blocking put_list().
inline void put_list_nbi(world& w, const copy_list& list, int pe, unsigned most_blocks = 0) {
  detail::put_blocks(detail::nonblocking(w), list, pe, most_blocks);
}
/// @brief Copies the blocks of a list from PE `pe`. Otherwise like put_list().
inline void get_list(world& w, const copy_list& list, int pe, unsigned most_blocks = 0) {
  detail::get_blocks(detail::blocking(w), list, pe, most_blocks);
}
/// @brief Non-blocking get_list().
inline void get_list_nbi(world& w, const copy_list& list, int pe, unsigned most_blocks = 0) {
  detail::get_blocks(detail::nonblocking(w), list, pe, most_blocks);
}

/// @brief Orders earlier host operations before later host operations, for each target PE.
///
/// *On return* operations on direct peers might be incomplete: the queue of the world keeps their order. Operations
/// on proxied peers are complete.
PGAS_API void fence(world& w);
/// @brief Waits until all earlier host operations have taken effect at their targets and the results of `_nbi`
/// functions are in local memory.
///
/// Does not wait for streams.
PGAS_API void quiet(world& w);

}  // namespace pgas

#include "pgas/detail/names_end.inc"
