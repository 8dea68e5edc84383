/// @file
/// A word in the shared memory of a block on which bulk gets complete: it counts arrivals of threads, and bytes as they
/// arrive. From sm_90 on it is the GPU's own, the mbarrier of PTX, as in `cuda::barrier` and in CUTLASS' pipelines;
/// elsewhere a word with the same meaning, so that a kernel is written once.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/context.hpp"
#include "pgas/device/impl/sync/mbarrier_wait.hpp"

namespace pgas {

/// Handle of such a word.
///
///     __shared__ std::uint64_t word;
///     const pgas::mbarrier full(&word);
///     if (threadIdx.x == 0) full.init(1);
///     __syncthreads();
///     if (threadIdx.x == 0) {
///       full.arrive_and_expect(sizeof tile);
///       pgas::get_nbi(ctx, full, tile, src, n, pe);
///     }
///     full.wait(ctx, 0);  // any threads of the block; the next phase has parity 1, the one after it 0 again
///
/// A program may do all of it but the get_nbi() by other means, on sm_90 and newer: `cuda::barrier` gives its word by
/// `cuda::device::barrier_native_handle`, CUTLASS' ClusterTransactionBarrier is one.
///
/// *Callers* any threads of the block. *Memory* the word is shared memory (on the CPU any memory of the block's
/// threads), at a multiple of 8 bytes, of nobody else from init() to end().
class mbarrier {
 public:
  /// The handle of this word.
  PGAS_FN explicit mbarrier(std::uint64_t* word) : word_(word) {}

  /// Starts with a phase that is complete when `arrivals` threads have arrived, and the bytes that they announced have.
  /// Each phase is followed by another one like it. *Callers* one thread; the others sync with it afterwards.
  PGAS_FN void init(std::uint32_t arrivals) const { detail::mbarrier_init(detail::mbarrier_at(word_), arrivals); }
  /// The word becomes ordinary memory. *Callers* one thread, when all others have done with it.
  PGAS_FN void end() const { detail::mbarrier_end(detail::mbarrier_at(word_)); }

  /// Arrives, and announces `bytes` bytes of this phase, less than 1 MiB. *Order* what this thread did before comes
  /// before what others do after they have waited.
  PGAS_FN void arrive_and_expect(std::uint32_t bytes) const {
    detail::mbarrier_expect(detail::mbarrier_at(word_), bytes);
  }

  /// Whether the phase of this parity is complete: the first phase has parity 0. *Order* where it is, its bytes and
  /// what others did before they arrived are seen.
  [[nodiscard]] PGAS_FN bool test(std::uint32_t parity) const {
    return detail::mbarrier_test(detail::mbarrier_at(word_), parity);
  }
  /// Waits until it is. *Errors* when the world is aborted, or the deadline of waits passes, it ends the thread with a
  /// record (operation::bulk_copy).
  PGAS_FN void wait(const context& ctx, std::uint32_t parity) const {
    detail::await_mbarrier(detail::checked_heap_of(ctx), detail::mbarrier_at(word_), parity);
  }

  /// The word.
  [[nodiscard]] PGAS_FN std::uint64_t* word() const { return word_; }

 private:
  std::uint64_t* word_;
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
