/// @file
/// How a device operation gives up: a record in the PE's control block for the host, then the end of the kernel. Used
/// by every operation.
#pragma once

#include "pgas/detail/isa/ptx_atomic.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/group.hpp"

namespace pgas::detail {

/// Leaves `found` in the control block unless another thread has left something before. When it returns, the record
/// that is there is complete and visible to the host, so that the caller may end.
PGAS_COLD void leave_record(control_block* control, std::uintptr_t my_slot, failure_record found) {
  failure_record* const record = &control->record;
  auto* const claim = reinterpret_cast<std::uint32_t*>(my_slot + internal_area::failure_claim);
  if (compare_exchange(claim, 0u, 1u) == 0) {
    record->why = found.why;
    record->what = found.what;
    record->pe = found.pe;
    record->heap_offset = found.heap_offset;
    record->bytes = found.bytes;
    record->expected = found.expected;
    record->seen = found.seen;
    record->compare = found.compare;
    record->limit_ms = found.limit_ms;
    record->block = place_block();
    record->thread = place_thread();
    fence_release();
    store_relaxed(&record->complete, 1u);
    fence_sc();  // complete at the host before the kernel is
  } else {
    const std::uint64_t start = clock_ns();
    while (load_relaxed(&record->complete) == 0 && clock_ns() - start < 100'000'000u) yield_waiting();
  }
}

/// leave_record() for callers with a context.
PGAS_FN void report(const context& ctx, const failure_record& found) {
  leave_record(ctx.control_, ctx.my_slot_, found);
}

}  // namespace pgas::detail
