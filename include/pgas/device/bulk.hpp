/// @file
/// Copies by the GPU's copy unit (TMA), which one thread starts while the others of its block compute.
///
/// **Much data**: put(), get(), put_signal() with a bulk_copier. A thread alone holds some 128 bytes in registers while
/// it waits for memory; the unit has as much in flight as the shared memory holds, and moves as much as a block of 1024
/// threads.
///
/// **Tiles**, arrays in the shared memory of the block, asynchronously: put_nbi(), add_nbi(), whose source may be
/// reused after flush(); get_nbi(), which completes on an mbarrier. The `ib` forms take rows at regular distances, as
/// those of `strided.hpp`. Nothing passes through the copier's memory, and only ends that are no multiple of 16 bytes
/// through registers.
///
/// On GPUs before sm_90, on the CPU, between addresses that differ modulo 16 bytes, for proxied PEs, and for arrays
/// elsewhere these are the calls of `rma.hpp`, `signal.hpp`, `strided.hpp` and `atomic.hpp` by one thread, complete
/// when they return as the blocking ones are. *Errors* as there; and a copy that does not end, because other code has
/// written to the copier's memory, or an mbarrier that awaits bytes that nobody sends, ends the thread with a record
/// (operation::bulk_copy).
///
/// The unit accesses memory through the *async proxy*, which fences of threads do not order. Copies of a copier are
/// ordered by fence(), quiet() and put_signal() *with that copier*, or by bulk_wait_all(), which makes them earlier
/// stores of the thread. Programs that start bulk copies themselves, by `cp.async.bulk` or a library, order them with
/// peers' accesses by fence_proxy_async() and bulk_wait_all().
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

/// All puts of tiles.
template <operation What, class T>
PGAS_FN void put_tile(const context& ctx, bulk_ring* ring, T* dst, const T* src, tile_rows rows, pe_or_peer pe) {
  ctx.by_route(
      dst, pe,
      [=](const context& here) { check_strided(here, What, dst, rows.dst_stride, rows.length, rows.count, pe.pe()); },
      [=](const context& here, T* there) { put_rows(here, ring, there, src, rows); },
      [=](const context& here, std::int32_t proxied_pe) {
        constexpr auto done = completion::local_done;
        if constexpr (What == operation::put) {
          proxied_put(proxied_copy{proxy_queue_of(here), proxied_pe, dst, src, rows.length * sizeof(T), done},
                      this_thread{});
        } else {
          proxied_strided<direction::put>(proxy_queue_of(here), this_thread{}, proxied_pe, dst, src,
                                          range_of<T>(rows, rows.src_stride, rows.dst_stride), done);
        }
      });
}

/// All gets of tiles.
template <operation What, class T>
PGAS_FN void get_tile(const context& ctx, std::uint64_t* word, T* dst, const T* src, tile_rows rows, pe_or_peer pe) {
  ctx.by_route(
      src, pe,
      [=](const context& here) { check_strided(here, What, src, rows.src_stride, rows.length, rows.count, pe.pe()); },
      [=](const context&, const T* there) { get_rows(mbarrier_at(word), dst, there, rows); },
      [=](const context& here, std::int32_t proxied_pe) {
        constexpr auto done = completion::local_done;
        if constexpr (What == operation::get) {
          proxied_get(proxied_copy{proxy_queue_of(here), proxied_pe, src, dst, rows.length * sizeof(T), done},
                      this_thread{});
        } else {
          proxied_strided<direction::get>(proxy_queue_of(here), this_thread{}, proxied_pe, src, dst,
                                          range_of<T>(rows, rows.dst_stride, rows.src_stride), done);
        }
        const std::size_t bytes = rows.length * rows.count * sizeof(T);
        if (bytes != 0) mbarrier_complete(mbarrier_at(word), static_cast<std::uint32_t>(bytes));
      });
}

/// All additions of tiles. The unit's instruction stands here, and not in what by_route() calls out of line: in a
/// function that several kernels call, ptxas 13.0 forgets the type of its elements and adds 64-bit integers
/// (tests/codegen/warp_specialised.cu).
template <class T>
PGAS_FN void add_tile(const context& ctx, T* dst, const T* src, tile_rows rows, pe_or_peer pe) {
  T* const there = ctx.by_route(
      dst, pe,
      [=](const context& here) {
        check_strided(here, operation::atomic_add, dst, rows.dst_stride, rows.length, rows.count, pe.pe());
      },
      [](const context&, T* peers) { return peers; },
      [=](const context& here, std::int32_t proxied_pe) {
        proxied_add_rows(proxy_queue_of(here), {operation::atomic_add, proxied_pe, here.offset(dst)}, src, rows);
        return static_cast<T*>(nullptr);
      });
  if (there != nullptr) add_rows(there, src, rows);
}

}  // namespace detail

/// One thread's copies, and shared memory for those of global memory.
///
///     extern __shared__ std::byte room[];
///     pgas::bulk_copier copier(room, 33 << 10);
///     pgas::put_signal(ctx, copier, dst, src, n, sig, 1, pgas::signal_op::add, pe);
///
/// *Callers* one thread, which makes it, calls with it and destroys it. Threads that copy at the same time each have
/// their own. When it is destroyed its copies are made.
class bulk_copier {
 public:
  /// For tiles alone: it takes no memory.
  bulk_copier() = default;
  /// @param shared the block's shared memory, at a multiple of 128 bytes, for this object alone as long as it lives
  /// @param bytes how much of it: 128, and eight stages of equal size. The more, the faster, up to 64 KiB, with which
  /// one thread is as fast as a block of 1024; fewer than 2.2 KiB are too few to be used.
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

  /// For the library's own use.
  [[nodiscard]] PGAS_FN detail::bulk_ring* ring() { return &ring_; }

 private:
  detail::bulk_ring ring_;
};

/// Copies `count` elements to PE `pe`.
///
/// *Callers* the copier's thread. *Units* `count` is elements. *Memory* `dst` is symmetric; `src` is any memory of this
/// PE: global memory passes through the copier's, the block's shared memory does not. Stores of other threads to `src`
/// are sent if the caller has synchronised with them. *On return* `src` may be reused. *Order* as put(): fence(),
/// quiet() or a put_signal of this thread add it.
template <PGAS_IS(rma_type) T>
PGAS_FN void put(const context& ctx, bulk_copier& by, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  detail::put_by_route<detail::completion::local_done>(ctx, this_thread{}, dst, src, count, pe, [&](T* there) {
    detail::copy_by_ring<detail::direction::put>(ctx, by.ring(), there, src, count);
  });
}

/// Copies `count` elements from PE `pe`.
///
/// *Callers* the copier's thread. *Units* `count` is elements. *Memory* `src` is symmetric; `dst` is any memory of this
/// PE: global memory is written through the copier's, the block's shared memory directly. *On return* `dst` holds the
/// data, for this thread, and for threads that synchronise with it. *Order* as get().
template <PGAS_IS(rma_type) T>
PGAS_FN void get(const context& ctx, bulk_copier& by, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  detail::get_by_route<detail::completion::local_done>(ctx, this_thread{}, dst, src, count, pe, [&](const T* there) {
    detail::copy_by_ring<detail::direction::get>(ctx, by.ring(), dst, there, count);
  });
}

/// Copies `count` elements to PE `pe`, then sets the signal word there to `value` or adds to it.
///
/// *Callers* the copier's thread. *Units* `count` is elements, 0 allowed. *Memory* `dst` and `sig` are symmetric; `src`
/// as for put() above. *On return* `src` may be reused, and the tiles of earlier put_nbi() and add_nbi() of the copier.
/// *Order* whoever sees the signal sees the data, and this thread's earlier puts and stores, as with the other
/// put_signal()s, those of the copier included.
template <PGAS_IS(rma_type) T>
PGAS_FN void put_signal(const context& ctx, bulk_copier& by, T* dst, const T* src, std::size_t count, signal_t* sig,
                        signal_t value, signal_op op, pe_or_peer pe) {
  if (ctx.has_proxied()) PGAS_UNLIKELY
    detail::bulk_copies_made();
  detail::put_signal_by_route<detail::completion::local_done>(
      ctx, this_thread{}, dst, src, count, sig, value, op, pe, [&](T* there) {
        detail::copy_by_ring<detail::direction::put>(ctx, by.ring(), there, src, count);
        detail::bulk_copies_made();
      });
}

/// Copies `count` elements to PE `pe` and does not wait for it.
///
///     __shared__ alignas(128) float tile[1024];
///     ...                                          // all threads write to it; the block syncs
///     pgas::bulk_copier by;                        // one thread goes on
///     pgas::put_nbi(ctx, by, dst, tile, 1024, pe);
///     ...
///     pgas::put_signal(ctx, by, dst, tile, 0, sig, 1, pgas::signal_op::add, pe);
///
/// *Callers* the copier's thread. *Units* `count` is elements, 0 allowed. *Memory* `dst` is symmetric; `src` is any
/// memory of this PE. From the block's shared memory the copy is asynchronous: it is one instruction where both
/// addresses and the number of bytes are multiples of 16. From elsewhere it is a put() with the copier. Stores of other
/// threads to `src` are sent if the caller has synchronised with them. *On return* `src` must not change before
/// flush(). *Order* none; fence(), quiet() or put_signal() with the copier add it.
template <PGAS_IS(rma_type) T>
PGAS_FN void put_nbi(const context& ctx, bulk_copier& by, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  detail::put_tile<detail::operation::put>(ctx, by.ring(), dst, src, {0, 0, count, 1}, pe);
}

/// Copies `count` rows of `block_size` elements to PE `pe` and does not wait for it: row i goes from
/// `src + i * src_stride` to `dst + i * dst_stride`.
///
/// *Callers* the copier's thread. *Units* all in elements, `count` in rows; 0 allowed. *Memory* as put_nbi() above; one
/// instruction for each row whose ends on both sides are at multiples of 16 bytes. *On return* as put_nbi(). *Order* as
/// put_nbi().
template <PGAS_IS(rma_type) T>
PGAS_FN void ibput_nbi(const context& ctx, bulk_copier& by, T* dst, const T* src, std::ptrdiff_t dst_stride,
                       std::ptrdiff_t src_stride, std::size_t block_size, std::size_t count, pe_or_peer pe) {
  detail::put_tile<detail::operation::iput>(ctx, by.ring(), dst, src, {dst_stride, src_stride, block_size, count}, pe);
}

/// Adds `count` elements to those of PE `pe` and does not wait for it.
///
/// Each element is added by itself: relaxed, atomic with respect to additions and atomics of threads *of the same GPU*
/// (PTX ISA 9.0, `cp.reduce.async.bulk`: each has `.relaxed.gpu` semantics). With those of other GPUs on the same
/// element it is a race, after which an addition may be lost: let one PE at a time add to an element, or all of one
/// GPU, or use atomic_add(). Sums round to nearest; `float` sums flush subnormal numbers to zero, 16-bit ones keep
/// them. Of several additions to an element the order is open. (ptxas of CUDA 13.0 gives the addition a wrong type in a
/// function of yours that is not inlined and that several kernels call: mark such a function `__forceinline__`.)
///
/// *Callers* the copier's thread. *Units* `count` is elements, 0 allowed. *Memory* as put_nbi(); from elsewhere than
/// shared memory, and where the unit can't carry them, elements are added one after the other as by atomic_add(). *On
/// return* as put_nbi(). *Order* as put_nbi().
template <PGAS_IS(amo_add_type) T>
PGAS_FN void add_nbi(const context& ctx, bulk_copier&, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  detail::add_tile(ctx, dst, src, {0, 0, count, 1}, pe);
}

/// add_nbi() of `count` rows of `block_size` elements: row i of `src + i * src_stride` to `dst + i * dst_stride`.
///
/// *Callers* the copier's thread. *Units* as ibput_nbi(). *Order* as add_nbi().
template <PGAS_IS(amo_add_type) T>
PGAS_FN void ibadd_nbi(const context& ctx, bulk_copier&, T* dst, const T* src, std::ptrdiff_t dst_stride,
                       std::ptrdiff_t src_stride, std::size_t block_size, std::size_t count, pe_or_peer pe) {
  detail::add_tile(ctx, dst, src, {dst_stride, src_stride, block_size, count}, pe);
}

/// Copies `count` elements from PE `pe` and does not wait for it: an mbarrier counts the bytes as they arrive.
///
/// The caller announces them: `count * sizeof(T)` bytes of the current phase, by arrive_and_expect() or whatever the
/// program has for it, before the call, or after it by an arrival that the phase lacks yet. Several gets may complete
/// in one phase; one arrival may announce the bytes of all.
///
/// *Callers* any thread of the block that has the mbarrier. *Units* `count` is elements, 0 allowed; the bytes of a
/// phase are less than 1 MiB. *Memory* `src` is symmetric; `dst` is any memory of this PE. Into the block's shared
/// memory the copy is asynchronous: one instruction where both addresses and the number of bytes are multiples of 16.
/// Elsewhere it is a get(), counted as well. *On return* `dst` must not be accessed before the phase is complete.
/// *Order* earlier accesses to `dst` by threads that the caller has synchronised with come before, and what a wait or a
/// barrier of the caller has ordered before is read. Whoever sees the phase complete sees the data.
template <PGAS_IS(rma_type) T>
PGAS_FN void get_nbi(const context& ctx, mbarrier on, T* dst, const T* src, std::size_t count, pe_or_peer pe) {
  detail::get_tile<detail::operation::get>(ctx, on.word(), dst, src, {0, 0, count, 1}, pe);
}

/// get_nbi() of `count` rows of `block_size` elements: row i of `src + i * src_stride` to `dst + i * dst_stride`. The
/// bytes to announce are `count * block_size * sizeof(T)`.
///
/// *Callers* as get_nbi(). *Units* as ibput_nbi(). *Order* as get_nbi().
template <PGAS_IS(rma_type) T>
PGAS_FN void ibget_nbi(const context& ctx, mbarrier on, T* dst, const T* src, std::ptrdiff_t dst_stride,
                       std::ptrdiff_t src_stride, std::size_t block_size, std::size_t count, pe_or_peer pe) {
  detail::get_tile<detail::operation::iget>(ctx, on.word(), dst, src, {dst_stride, src_stride, block_size, count}, pe);
}

/// Waits until the copier's earlier copies have read their sources, which may be reused then.
/// *Callers* the copier's thread. *Order* none: the data may not have arrived.
PGAS_FN void flush(bulk_copier&) {
#if defined(PGAS_HAS_BULK_COPIES)
  detail::bulk_stores_read<0>();
#endif
}

/// fence() that covers the copier's copies, too.
/// *Callers* the copier's thread. *On return* they are made. *Order* as fence(), of all operations of this thread.
PGAS_FN void fence(const context& ctx, bulk_copier&) {
  detail::bulk_copies_made();
  fence(ctx);
}

/// quiet() that covers the copier's copies, too.
/// *Callers* the copier's thread. *On return* as quiet(), for all operations of this thread.
PGAS_FN void quiet(const context& ctx, bulk_copier&) {
  detail::bulk_copies_made();
  quiet(ctx);
}

/// Makes this thread's earlier stores and loads visible to its later bulk copies.
///
///     pgas::wait_until(ctx, block, sig, pgas::cmp::ge, round);  // a peer has put a tile here
///     if (block.thread_rank() == 0) {
///       pgas::fence_proxy_async();
///       ...                                                     // cp.async.bulk of the tile to shared memory
///     }
///
/// *Callers* the thread that starts the copies. *Order* accesses ordered before this call, of peers too, come before
/// the accesses of later bulk copies; a wait or a barrier by itself orders loads and stores only. Nothing on GPUs
/// before sm_90 and on the CPU, which have no such copies.
PGAS_FN void fence_proxy_async() {
#if defined(PGAS_HAS_BULK_COPIES)
  detail::fence_proxy_async();
#endif
}

/// Waits until the committed bulk stores of this thread (`cp.async.bulk.commit_group`) are made.
///
///     ...                    // cp.async.bulk of a tile from shared memory to ctx.remote(tile, pe), and its commit
///     pgas::bulk_wait_all();
///     pgas::put_signal(ctx, block, tile, tile, 0, sig, 1, pgas::signal_op::add, pe);
///
/// *Callers* each thread that has started some. *On return* they have read their source and written their destination.
/// *Order* they are stores of this thread from here on, which a put_signal(), fence() or barrier() covers; before they
/// are ordered with nothing. Nothing on GPUs before sm_90 and on the CPU.
PGAS_FN void bulk_wait_all() { detail::bulk_copies_made(); }

}  // namespace pgas

#include "pgas/detail/names_end.inc"
