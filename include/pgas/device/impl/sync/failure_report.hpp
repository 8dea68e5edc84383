/// @file
/// How a device operation gives up: a record in the PE's control block for the host, then the end of the kernel. And
/// how a wait answers when the host asks what it waits for: by a record of the same kind, and goes on. Used by every
/// operation.
#pragma once

#include "pgas/detail/isa/ptx_atomic.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/group.hpp"

namespace pgas::detail {

/// Fills a record for the host. `complete` says that all of it is there.
PGAS_FN void write_record(failure_record* record, const failure_record& found, std::uint32_t complete) {
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
  store_relaxed(&record->complete, complete);
}

/// Answers the host's question, once for each thread. Places are claimed in device memory, as few links give a GPU
/// atomic operations on host memory.
PGAS_COLD void answer_question(control_block* control, std::uintptr_t my_slot, const failure_record* found) {
  const std::uint32_t question = load_relaxed(&control->question);
  if (question == 0) return;
  const std::uint32_t thread = place_block() * 1024 + place_thread();
  const std::uint64_t mine = std::uint64_t{question} << 32 | thread;
  auto* const claims = reinterpret_cast<std::uint64_t*>(my_slot + internal_area::answer_claims);
  constexpr std::uint32_t tries = 16;
  PGAS_ROLLED
  for (std::uint32_t i = 0; i < tries; ++i) {
    const std::uint32_t place = (thread * 0x9e3779b1u / (~0u / most_answers) + i) % most_answers;
    const std::uint64_t there = load_relaxed(claims + place);
    if (there == mine) return;
    if (there >> 32 == question || compare_exchange(claims + place, there, mine) != there) continue;
    return write_record(control->answers + place, *found, question);
  }
  store_relaxed(&control->unanswered, question);
}

/// Leaves `found` in the control block unless another thread has left something before. When it returns, the record
/// that is there is complete and visible to the host, so that the caller may end. Of a wait that was asked, the answer.
PGAS_COLD void leave_record(control_block* control, std::uintptr_t my_slot, failure_record found) {
  if (found.why == failure::asked) return answer_question(control, my_slot, &found);
  failure_record* const record = &control->record;
  auto* const claim = reinterpret_cast<std::uint32_t*>(my_slot + internal_area::failure_claim);
  if (compare_exchange(claim, 0u, 1u) == 0) {
    write_record(record, found, 1);
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
