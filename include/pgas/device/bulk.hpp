/// @file
/// Copies of much data by one thread, through shared memory that the program provides. A thread alone holds some 128
/// bytes in registers while it waits for memory; the GPU's copy unit (TMA) has as much in flight as the shared memory
/// holds, and moves as much as a block of 1024 threads. So one thread of a block may send while the others compute.
///
/// On GPUs before sm_90, on the CPU, between addresses that differ modulo 16 bytes, and for proxied PEs, these are the
/// calls of `rma.hpp` and `signal.hpp` by one thread. *Errors* as there; and a copy that does not end, because other
/// code has written to the copier's memory, ends the thread with a record (operation::bulk_copy).
///
/// Programs that start bulk copies themselves, by `cp.async.bulk` or a library, order them with peers' accesses by
/// fence_proxy_async() and bulk_wait_all(): the unit accesses memory through the *async proxy*.
#pragma once

#include "pgas/device/impl/copy/bulk_copy.hpp"
#include "pgas/device/rma.hpp"
#include "pgas/device/signal.hpp"
#include "pgas/signal_types.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {

/// Shared memory for one thread's copies.
///
///     extern __shared__ std::byte room[];
///     pgas::bulk_copier copier(room, 33 << 10);
///     pgas::put_signal(ctx, copier, dst, src, n, sig, 1, pgas::signal_op::add, pe);
///
/// *Callers* one thread, which makes it, calls with it and destroys it. Threads that copy at the same time each have
/// their own.
class bulk_copier {
 public:
  /// @param shared the block's shared memory, at a multiple of 128 bytes, for this object alone as long as it lives
  /// @param bytes how much of it: 128, and eight stages of equal size. The more, the faster, up to 64 KiB, with which
  /// one thread is as fast as a block of 1024; fewer than 2.2 KiB are too few to be used.
  PGAS_FN bulk_copier([[maybe_unused]] void* shared, [[maybe_unused]] std::size_t bytes) {
#if defined(PGAS_HAS_BULK_COPIES)
    ring_.address = detail::shared_address(shared);
    ring_.stage_bytes = detail::bulk_ring::stage_bytes_of(bytes);
    for (std::uint32_t i = 0; i < detail::bulk_ring::stages && ring_.stage_bytes != 0; ++i)
      detail::mbarrier_init(detail::barrier_of(ring_, i));
#endif
  }
  PGAS_FN ~bulk_copier() {
#if defined(PGAS_HAS_BULK_COPIES)
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
PGAS_FN void put(const context& ctx, bulk_copier& by, T* dst, const T* src, std::size_t count, std::int32_t pe) {
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
PGAS_FN void get(const context& ctx, bulk_copier& by, T* dst, const T* src, std::size_t count, std::int32_t pe) {
  detail::get_by_route<detail::completion::local_done>(ctx, this_thread{}, dst, src, count, pe, [&](const T* there) {
    detail::copy_by_ring<detail::direction::get>(ctx, by.ring(), dst, there, count);
  });
}

/// Copies `count` elements to PE `pe`, then sets the signal word there to `value` or adds to it.
///
/// *Callers* the copier's thread. *Units* `count` is elements, 0 allowed. *Memory* `dst` and `sig` are symmetric; `src`
/// as for put() above. *On return* `src` may be reused. *Order* whoever sees the signal sees the data, and this
/// thread's earlier puts and stores, as with the other put_signal()s.
template <PGAS_IS(rma_type) T>
PGAS_FN void put_signal(const context& ctx, bulk_copier& by, T* dst, const T* src, std::size_t count, signal_t* sig,
                        signal_t value, signal_op op, std::int32_t pe) {
  detail::put_signal_by_route<detail::completion::local_done>(
      ctx, this_thread{}, dst, src, count, sig, value, op, pe,
      [&](T* there) { detail::copy_by_ring<detail::direction::put>(ctx, by.ring(), there, src, count); });
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
PGAS_FN void bulk_wait_all() {
#if defined(PGAS_HAS_BULK_COPIES)
  detail::bulk_stores_made();
#endif
}

}  // namespace pgas
