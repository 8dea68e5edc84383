/// @file
/// The bounded wait for a word that counts arrivals and bytes. Used by `device/mbarrier.hpp` and by the pipeline of a
/// bulk_copier.
#pragma once

#include "pgas/detail/isa/ptx_mbarrier.hpp"
#include "pgas/device/impl/sync/argument_check.hpp"
#include "pgas/device/impl/sync/wait.hpp"

namespace pgas::detail {

/// Ends a thread whose copy does not arrive. Other copies in flight are complete before the GPU gives the block's
/// shared memory to another block.
[[noreturn]] PGAS_COLD void give_up_copy() {
  const std::uint64_t start = clock_ns();
  while (clock_ns() - start < 1'000'000u) yield_waiting();
  end_thread();
}

/// Waits until the phase of this parity is complete. The copy unit always makes progress. An endless wait means that no
/// copy sends the announced bytes, or that the program has written to the word.
PGAS_FN void await_mbarrier(const checked_heap& heap, mbarrier_word at, std::uint32_t parity) {
  const failure why = poll_quietly(
      heap.control, [&] { return mbarrier_try_wait(at, parity); }, mbarrier_polls);
  if (why != failure::none) PGAS_UNLIKELY {
    leave_failure(heap.control, heap.my_slot,
                  lost_wait(why, operation::bulk_copy, -1, std::uint64_t{0}, cmp::eq, parity, parity ^ 1));
    give_up_copy();
  }
}

}  // namespace pgas::detail
