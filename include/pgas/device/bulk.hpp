/// @file
/// Copies by the GPU's copy unit (TMA). One thread starts the copies while the other threads of its block compute.
///
/// **Large copies**: put(), get() and put_signal() with a bulk_copier. A single thread holds about 128 bytes in
/// registers while it waits for memory. The copy unit has as many bytes in flight as the shared memory holds, and is as
/// fast as a block of 1024 threads.
///
/// **Tiles** are arrays in the shared memory of the block. put_nbi() and add_nbi() are asynchronous, and the source may
/// be reused after flush(). get_nbi() completes on an mbarrier. The `ib` forms take rows at regular distances, as in
/// `strided.hpp`. Tiles do not use the memory of the copier. In a tile, only the parts of rows that do not fill 16
/// aligned bytes go through registers.
///
/// On GPUs before sm_90 and on the CPU, all copies use the single-thread calls of `rma.hpp`, `signal.hpp`,
/// `strided.hpp` and `atomic.hpp` instead. On every GPU, the single-thread calls also perform copies between addresses
/// that differ modulo 16 bytes, copies to or from proxied PEs, and copies of arrays that are neither in global memory
/// nor in the block's shared memory. Copies by single-thread calls are complete on return, like the blocking calls.
///
/// *Errors* as in `rma.hpp`, `signal.hpp`, `strided.hpp` and `atomic.hpp`. A copy that never completes also ends the
/// thread with a record (operation::bulk_copy). A copy never completes if other code has written to the copier's
/// memory, or if an mbarrier awaits bytes that no copy sends.
///
/// The copy unit accesses memory through the *async proxy*, which fences of threads do not order. fence(), quiet() and
/// put_signal() *with a copier* order its copies. After bulk_wait_all() the copies count as earlier stores of the
/// thread. A program may also start bulk copies by `cp.async.bulk` or by a library. To order its own bulk copies
/// relative to the accesses of peers, the program must call fence_proxy_async() and bulk_wait_all().
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/atomic.hpp"
#include "pgas/device/fence_quiet.hpp"
#include "pgas/device/impl/copy/bulk_copy.hpp"
#include "pgas/device/impl/copy/bulk_tile.hpp"
#include "pgas/device/mbarrier.hpp"
#include "pgas/device/rma.hpp"
#include "pgas/device/signal.hpp"
#include "pgas/device/strided.hpp"
#include "pgas/signal_types.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {
namespace detail {

/// The common implementation of all puts of tiles.
template <operation What, class T>
PGAS_FN void put_tile(const context& ctx, bulk_ring* ring, T* dst, const T* src, tile_rows rows, pe_or_peer pe) {
  ctx.by_route(
      dst, pe,
      [=](const context& here, T* at, std::int32_t number) {
        check_strided(here, What, at, rows.dst_stride, rows.length, rows.count, number);
      },
      [=](const context& here, T* remote) { put_rows(here, ring, remote, src, rows); },
      [=](const context& here, T* at, std::int32_t proxied_pe) {
        constexpr auto done = completion::local_done;
        if constexpr (What == operation::put) {
          const proxied_copy call{proxy_queue_of(here), proxied_pe, at, src, rows.length * sizeof(T), done};
          proxied_put(&call, this_thread{});
        } else {
          proxied_strided<direction::put>(proxy_queue_of(here), this_thread{}, proxied_pe, at, src,
                                          range_of<T>(rows, rows.src_stride, rows.dst_stride), done);
        }
      });
}

/// The common implementation of all gets of tiles.
template <operation What, class T>
PGAS_FN void get_tile(const context& ctx, std::uint64_t* word, T* dst, const T* src, tile_rows rows, pe_or_peer pe) {
  ctx.by_route(
      src, pe,
      [=](const context& here, const T* at, std::int32_t number) {
        check_strided(here, What, at, rows.src_stride, rows.length, rows.count, number);
      },
      [=](const context&, const T* remote) { get_rows(mbarrier_at(word), dst, remote, rows); },
      [=](const context& here, const T* at, std::int32_t proxied_pe) {
        constexpr auto done = completion::local_done;
        if constexpr (What == operation::get) {
          const proxied_copy call{proxy_queue_of(here), proxied_pe, at, dst, rows.length * sizeof(T), done};
          proxied_get(&call, this_thread{});
        } else {
          proxied_strided<direction::get>(proxy_queue_of(here), this_thread{}, proxied_pe, at, dst,
                                          range_of<T>(rows, rows.dst_stride, rows.src_stride), done);
        }
        const std::size_t bytes = rows.length * rows.count * sizeof(T);
        if (bytes != 0) mbarrier_complete(mbarrier_at(word), static_cast<std::uint32_t>(bytes));
      });
}

/// The common implementation of all additions of tiles. The bulk instruction must be inline in this function. If the
/// instruction is in an out-of-line function that several kernels call, ptxas 13.0 loses the element type and adds
/// 64-bit integers (tests/codegen/warp_specialised.cu).
template <class T>
PGAS_FN void add_tile(const context& ctx, T* dst, const T* src, tile_rows rows, pe_or_peer pe) {
  T* const remote = ctx.by_route(
      dst, pe,
      [=](const context& here, T* at, std::int32_t number) {
        check_strided(here, operation::atomic_add, at, rows.dst_stride, rows.length, rows.count, number);
      },
      [](const context&, T* peers) { return peers; },
      [=](const context& here, T* at, std::int32_t proxied_pe) {
        proxied_add_rows(proxy_queue_of(here), {operation::atomic_add, proxied_pe, here.offset(at)}, src, rows);
        return static_cast<T*>(nullptr);
      });
  if (remote != nullptr) add_rows(remote, src, rows);
}

}  // namespace detail

/// @brief The bulk copies of one thread, and the shared memory that stages copies of global memory.
///
///     extern __shared__ std::byte room[];
///     pgas::bulk_copier copier(room, 33 << 10);
///     pgas::put_signal(ctx, copier, dst, src, n, sig, 1, pgas::signal_op::add, pe);
///
/// *Callers* one thread constructs the copier, passes it to calls and destroys it. Threads that copy at the same time
/// need one copier each. The destructor waits until the copies are complete.
class bulk_copier {
 public:
  /// @brief A copier for tiles only, without staging memory.
  bulk_copier() = default;
  /// @brief A copier with staging memory.
  ///
  /// @param shared shared memory of the block, aligned to 128 bytes, for the exclusive use of this object during its
  /// lifetime
  /// @param bytes size of the memory: 128 bytes plus eight stages of equal size. Copies are faster with more memory, up
  /// to 64 KiB. With 64 KiB, one thread is as fast as a block of 1024 threads. If the memory has less than 2.2 KiB, the
  /// copier does not use it.
  PGAS_FN bulk_copier([[maybe_unused]] void* shared, [[maybe_unused]] std::size_t bytes) {
#if defined(PGAS_HAS_BULK_COPIES)
    ring_.address = detail::shared_address(shared);
    ring_.stage_bytes = detail::bulk_ring::stage_bytes_of(bytes);
    for (std::uint32_t i = 0; i < detail::bulk_ring::stages && ring_.stage_bytes != 0; ++i)
      detail::mbarrier_init(detail::barrier_of(ring_, i), 1);
#endif
  }
  PGAS_FN ~bulk_copier() {
#if defined(PGAS_HAS_BULK_COPIES)
    detail::bulk_stores_made();
    for (std::uint32_t i = 0; i < detail::bulk_ring::stages && ring_.stage_bytes != 0; ++i)
      detail::mbarrier_end(detail::barrier_of(ring_, i));
#endif
  }
  bulk_copier(const bulk_copier&) = delete;
  bulk_copier& operator=(const bulk_copier&) = delete;

  /// @brief For the library's internal use.
  [[nodiscard]] PGAS_FN detail::bulk_ring* ring() { return &ring_; }

 private:
  detail::bulk_ring ring_;
};

/// @brief Copies `count` elements to PE `pe`.
///
/// *Callers* the copier's thread. *Units* `count` is a number of elements.
/// *Memory* `dst` is symmetric; `src` is any memory of this PE. Data in global memory passes through the copier's
/// memory. Data in shared memory of the block does not pass through the copier's memory. If the caller has synchronized
/// with other threads, the copy sends the values that those threads have stored to `src`.
/// *On return* `src` may be reused.
/// *Order* as put(). fence(), quiet() or a put_signal() of this thread orders the copy.
template <PGAS_IS(rma_type) T>
PGAS_FN void put(const context& ctx, bulk_copier& by, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  detail::put_by_route<detail::completion::local_done>(ctx, this_thread{}, dst, src, count, pe, [&](T* remote) {
    detail::copy_by_ring<detail::direction::put>(ctx, by.ring(), remote, src, count);
  });
}

/// @brief Copies `count` elements from PE `pe`.
///
/// *Callers* the copier's thread. *Units* `count` is a number of elements.
/// *Memory* `src` is symmetric; `dst` is any memory of this PE. Global memory is written through the copier's memory;
/// shared memory of the block is written directly.
/// *On return* `dst` holds the data, for this thread and for threads that synchronize with this thread. *Order* as
/// get().
template <PGAS_IS(rma_type) T>
PGAS_FN void get(const context& ctx, bulk_copier& by, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  detail::get_by_route<detail::completion::local_done>(ctx, this_thread{}, dst, src, count, pe, [&](const T* remote) {
    detail::copy_by_ring<detail::direction::get>(ctx, by.ring(), dst, remote, count);
  });
}

/// @brief Copies `count` elements to PE `pe`, then sets that PE's signal word to `value` or adds `value` to the word.
///
/// *Callers* the copier's thread. *Units* `count` is a number of elements; 0 is allowed.
/// *Memory* `dst` and `sig` are symmetric; `src` as for put().
/// *On return* `src` and the tiles of the copier's earlier put_nbi() and add_nbi() may be reused.
/// *Order* a thread that sees the signal sees the data and this thread's earlier puts and stores, including the
/// copier's copies.
template <PGAS_IS(rma_type) T>
PGAS_FN void put_signal(const context& ctx, bulk_copier& by, T* dst, const T* src, std::size_t count, signal_t* sig,
                        signal_t value, signal_op op, pe_or_peer pe) {
  if (ctx.has_proxied()) PGAS_UNLIKELY
    detail::bulk_copies_made();
  detail::put_signal_by_route<detail::completion::local_done>(
      ctx, this_thread{}, dst, src, count, sig, value, op, pe, [&](T* remote) {
        detail::copy_by_ring<detail::direction::put>(ctx, by.ring(), remote, src, count);
        detail::bulk_copies_made();
      });
}

/// @brief Copies `count` elements to PE `pe` without waiting for completion.
///
///     __shared__ alignas(128) float tile[1024];
///     ...                                          // all threads write to the tile; the block syncs
///     pgas::bulk_copier by;                        // one thread continues
///     pgas::put_nbi(ctx, by, dst, tile, 1024, pe);
///     ...
///     pgas::put_signal(ctx, by, dst, tile, 0, sig, 1, pgas::signal_op::add, pe);
///
/// *Callers* the copier's thread. *Units* `count` is a number of elements; 0 is allowed.
/// *Memory* `dst` is symmetric; `src` is any memory of this PE. A copy from shared memory of the block is asynchronous.
/// The copy is one instruction if both addresses and the number of bytes are multiples of 16. If `src` is not in shared
/// memory of the block, put_nbi() is a put() with the copier. If the caller has synchronized with other threads, the
/// copy sends the values that those threads have stored to `src`.
/// *On return* `src` must not change before flush().
/// *Order* none. fence(), quiet() or put_signal() with the copier orders the copy.
template <PGAS_IS(rma_type) T>
PGAS_FN void put_nbi(const context& ctx, bulk_copier& by, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  detail::put_tile<detail::operation::put>(ctx, by.ring(), dst, src, {0, 0, count, 1}, pe);
}

/// @brief Copies `count` rows of `block_size` elements to PE `pe` without waiting for completion.
///
/// Row i goes from `src + i * src_stride` to `dst + i * dst_stride`.
///
/// *Callers* the copier's thread. *Units* strides and `block_size` are numbers of elements, `count` is a number of
/// rows; 0 is allowed.
/// *Memory* as put_nbi(); a row takes one instruction if its size and both of its addresses are multiples of 16 bytes.
/// *On return* as put_nbi(). *Order* as put_nbi().
template <PGAS_IS(rma_type) T>
PGAS_FN void ibput_nbi(const context& ctx, bulk_copier& by, T* dst, const T* src, std::ptrdiff_t dst_stride,
                       std::ptrdiff_t src_stride, std::size_t block_size, std::size_t count, pe_or_peer pe) {
  detail::put_tile<detail::operation::iput>(ctx, by.ring(), dst, src, {dst_stride, src_stride, block_size, count}, pe);
}

/// @brief Adds `count` elements to the elements of PE `pe` without waiting for completion.
///
/// Each element is a separate addition: relaxed, and atomic with respect to additions and atomics of threads *of the
/// same GPU* (PTX ISA 9.0, `cp.reduce.async.bulk`: each has `.relaxed.gpu` semantics). Additions of other GPUs to the
/// same element are a data race and can be lost. Let only one PE at a time, or only the PEs of one GPU, add to an
/// element. In all other cases, use atomic_add(). Sums round to nearest. `float` sums flush subnormal numbers to zero;
/// 16-bit sums keep subnormal numbers. The order of several additions to an element is unspecified.
///
/// *Callers* the copier's thread. *Units* `count` is a number of elements; 0 is allowed.
/// *Memory* as put_nbi(). Elements in memory other than shared memory, and elements that the copy unit can't handle,
/// are added one by one as by atomic_add().
/// *On return* as put_nbi(). *Order* as put_nbi().
///
/// @note If several kernels call a function of the program that is not inlined, ptxas of CUDA 13.0 gives the addition
/// in this function a wrong type. Mark such a function `__forceinline__`.
template <PGAS_IS(amo_add_type) T>
PGAS_FN void add_nbi(const context& ctx, bulk_copier&, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  detail::add_tile(ctx, dst, src, {0, 0, count, 1}, pe);
}

/// @brief Like add_nbi(), for `count` rows of `block_size` elements.
///
/// Row i goes from `src + i * src_stride` to `dst + i * dst_stride`.
///
/// *Callers* the copier's thread. *Units* as ibput_nbi(). *Order* as add_nbi().
template <PGAS_IS(amo_add_type) T>
PGAS_FN void ibadd_nbi(const context& ctx, bulk_copier&, T* dst, const T* src, std::ptrdiff_t dst_stride,
                       std::ptrdiff_t src_stride, std::size_t block_size, std::size_t count, pe_or_peer pe) {
  detail::add_tile(ctx, dst, src, {dst_stride, src_stride, block_size, count}, pe);
}

/// @brief Copies `count` elements from PE `pe` without waiting for completion. An mbarrier counts the arriving bytes.
///
/// The program announces `count * sizeof(T)` bytes of the current phase, by arrive_and_expect() or another mbarrier
/// interface. The announcement comes before the call, or after the call if the phase still needs at least one more
/// arrival. Several gets may complete in one phase. One arrival may announce the bytes of all gets of a phase.
///
/// *Callers* any thread of the block whose shared memory contains the mbarrier.
/// *Units* `count` is a number of elements, and may be 0; the bytes of a phase are less than 1 MiB.
/// *Memory* `src` is symmetric; `dst` is any memory of this PE. A copy into shared memory of the block is asynchronous.
/// The copy is one instruction if both addresses and the number of bytes are multiples of 16. If `dst` is not in shared
/// memory of the block, get_nbi() is a get(), and the mbarrier counts the bytes of this get as well. *On return* `dst`
/// must not be accessed before the phase is complete. *Order* `dst` is written after all earlier accesses to `dst` by
/// threads that the caller has synchronized with. The copy reads stores that a wait or a barrier of the caller has
/// ordered before the copy. A thread that sees the phase complete sees the data.
template <PGAS_IS(rma_type) T>
PGAS_FN void get_nbi(const context& ctx, mbarrier on, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  detail::get_tile<detail::operation::get>(ctx, on.word(), dst, src, {0, 0, count, 1}, pe);
}

/// @brief Like get_nbi(), for `count` rows of `block_size` elements.
///
/// Row i goes from `src + i * src_stride` to `dst + i * dst_stride`. The program announces `count * block_size *
/// sizeof(T)` bytes.
///
/// *Callers* as get_nbi(). *Units* as ibput_nbi(). *Order* as get_nbi().
template <PGAS_IS(rma_type) T>
PGAS_FN void ibget_nbi(const context& ctx, mbarrier on, T* dst, const T* src, std::ptrdiff_t dst_stride,
                       std::ptrdiff_t src_stride, std::size_t block_size, std::size_t count, pe_or_peer pe) {
  detail::get_tile<detail::operation::iget>(ctx, on.word(), dst, src, {dst_stride, src_stride, block_size, count}, pe);
}

/// @brief Waits until the copier's earlier copies have read their sources. After the call, the sources may be reused.
///
/// *Callers* the copier's thread. *Order* none: the data has not necessarily arrived.
PGAS_FN void flush(bulk_copier&) {
#if defined(PGAS_HAS_BULK_COPIES)
  detail::bulk_stores_read<0>();
#endif
}

/// @brief Like fence(), also for the copier's copies.
///
/// *Callers* the copier's thread. *On return* the copies are complete.
/// *Order* as fence(), for all operations of this thread.
PGAS_FN void fence(const context& ctx, bulk_copier&) {
  detail::bulk_copies_made();
  fence(ctx);
}

/// @brief Like quiet(), also for the copier's copies.
///
/// *Callers* the copier's thread. *On return* as quiet(), for all operations of this thread.
PGAS_FN void quiet(const context& ctx, bulk_copier&) {
  detail::bulk_copies_made();
  quiet(ctx);
}

/// @brief Orders this thread's earlier stores and loads before its later bulk copies.
///
///     pgas::wait_until(ctx, block, sig, pgas::cmp::ge, round);  // a peer has put a tile here
///     if (block.thread_rank() == 0) {
///       pgas::fence_proxy_async();
///       ...                                                     // cp.async.bulk of the tile to shared memory
///     }
///
/// *Callers* the thread that starts the copies.
/// *Order* accesses that are ordered before this call, including accesses of peers, come before the accesses of later
/// bulk copies. A wait or a barrier alone orders loads and stores only.
///
/// @note The call has no effect on GPUs before sm_90 and on the CPU, which have no such copies.
PGAS_FN void fence_proxy_async() {
#if defined(PGAS_HAS_BULK_COPIES)
  detail::fence_proxy_async();
#endif
}

/// @brief Waits until the committed bulk stores of this thread (`cp.async.bulk.commit_group`) are complete.
///
///     ...                    // cp.async.bulk of a tile from shared memory to ctx.remote(tile, pe), and its commit
///     pgas::bulk_wait_all();
///     pgas::put_signal(ctx, block, tile, tile, 0, sig, 1, pgas::signal_op::add, pe);
///
/// *Callers* each thread that has started bulk stores.
/// *On return* the stores have read their source and written their destination.
/// *Order* after the call, a put_signal(), fence() or barrier() orders the bulk stores as it orders other stores of
/// this thread. Before the call, the bulk stores are unordered.
///
/// @note The call has no effect on GPUs before sm_90 and on the CPU.
PGAS_FN void bulk_wait_all() { detail::bulk_copies_made(); }

}  // namespace pgas

#include "pgas/detail/names_end.inc"
