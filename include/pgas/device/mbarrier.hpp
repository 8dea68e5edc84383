/// @file
/// A word in the shared memory of a block that tracks the completion of bulk gets. The word counts arrivals of threads
/// and arriving bytes. From sm_90 on, the word is the GPU's mbarrier (PTX), as in `cuda::barrier` and in CUTLASS'
/// pipelines. On older GPUs and on the CPU, the library implements the same semantics, so the same kernel source works
/// everywhere.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/context.hpp"
#include "pgas/device/impl/sync/mbarrier_wait.hpp"

namespace pgas {

/// @brief Handle of an mbarrier word.
///
///     __shared__ std::uint64_t word;
///     const pgas::mbarrier full(&word);
///     if (threadIdx.x == 0) full.init(1);
///     __syncthreads();
///     if (threadIdx.x == 0) {
///       full.arrive_and_expect(sizeof tile);
///       pgas::get_nbi(ctx, full, tile, src, n, pe);
///     }
///     full.wait(ctx, 0);  // any threads of the block; the next phase has parity 1, and the following phase 0 again
///
/// On sm_90 and newer a program may use other interfaces for everything except get_nbi():
/// `cuda::device::barrier_native_handle` returns the word of a `cuda::barrier`, and CUTLASS' ClusterTransactionBarrier
/// is such a word.
///
/// *Callers* any threads of the block.
/// *Memory* the word is in shared memory (on the CPU in any memory of the block's threads), aligned to 8 bytes. From
/// init() to end() the program must not use the word in any other way.
class mbarrier {
 public:
  /// @brief A handle of `word`.
  PGAS_FN explicit mbarrier(std::uint64_t* word) : word_(word) {}

  /// @brief Initializes the word.
  ///
  /// A phase is complete when `arrivals` threads have arrived and the announced bytes have arrived; then the next phase
  /// begins.
  ///
  /// *Callers* one thread. Before other threads use the word, they must synchronize with the calling thread.
  PGAS_FN void init(std::uint32_t arrivals) const { detail::mbarrier_init(detail::mbarrier_at(word_), arrivals); }
  /// @brief Turns the word into ordinary memory again.
  ///
  /// *Callers* one thread, after all other threads have stopped using the word.
  PGAS_FN void end() const { detail::mbarrier_end(detail::mbarrier_at(word_)); }

  /// @brief Arrives, and announces `bytes` bytes (less than 1 MiB) for this phase.
  ///
  /// *Order* earlier accesses of this thread come before later accesses of threads that wait for the phase.
  PGAS_FN void arrive_and_expect(std::uint32_t bytes) const {
    detail::mbarrier_expect(detail::mbarrier_at(word_), bytes);
  }

  /// @brief Tests whether the phase of this parity is complete.
  ///
  /// The first phase has parity 0.
  ///
  /// *Order* if the phase is complete, the bytes of the phase and the accesses that the arrived threads made before
  /// their arrival are visible.
  ///
  /// @return Whether the phase is complete.
  [[nodiscard]] PGAS_FN bool test(std::uint32_t parity) const {
    return detail::mbarrier_test(detail::mbarrier_at(word_), parity);
  }
  /// @brief Waits until the phase of this parity is complete.
  ///
  /// *Errors* ends the thread with a record (operation::bulk_copy) when the world is aborted or the deadline of waits
  /// passes.
  PGAS_FN void wait(const context& ctx, std::uint32_t parity) const {
    detail::await_mbarrier(detail::checked_heap_of(ctx), detail::mbarrier_at(word_), parity);
  }

  /// @brief The word.
  [[nodiscard]] PGAS_FN std::uint64_t* word() const { return word_; }

 private:
  std::uint64_t* word_;
};

}  // namespace pgas

#include "pgas/detail/names_end.inc"
