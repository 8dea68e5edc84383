/// @file
/// The failure of a device operation: the operation writes a record for the host to the PE's control block, and ends
/// the kernel. The host can also ask a wait what it waits for. A wait that the host has asked writes a record and
/// continues. Used by every operation.
#pragma once

#include "pgas/detail/isa/ptx_atomic.hpp"
#include "pgas/detail/isa/ptx_opaque.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/group.hpp"

namespace pgas::detail {

/// Fills a record for the host, except for the fields that finish_record() writes.
PGAS_FN void fill_record(failure_record* record, const failure_record& found) {
  record->why = found.why;
  record->what = found.what;
  record->pe = found.pe;
  record->heap_offset = found.heap_offset;
  record->bytes = found.bytes;
  record->expected = found.expected;
  record->seen = found.seen;
  record->compare = found.compare;
  record->limit_ms = found.limit_ms;
}

/// Writes the indices of the block and of the thread, and `complete`, which marks the record as complete.
PGAS_COLD void finish_record(failure_record* record, std::uint32_t complete) {
  record->block = place_block();
  record->thread = place_thread();
  store_release(&record->complete, complete);
}

/// Writes `found` to the control block unless another thread has already written a record. On return the record in the
/// control block is complete and visible to the host, so the caller may end.
PGAS_FN void leave_failure_here(control_block* control, std::uintptr_t my_slot, const failure_record& found) {
  failure_record* const record = &control->record;
  auto* const claim = reinterpret_cast<std::uint32_t*>(my_slot + internal_area::failure_claim);
  if (compare_exchange(claim, 0u, 1u) == 0) {
    fill_record(record, found);
    finish_record(record, 1);
    fence_sc();  // the record is complete in host memory before the kernel ends
  } else {
    const std::uint64_t start = clock_ns();
    while (load_relaxed(&record->complete) == 0 && clock_ns() - start < 100'000'000u) yield_waiting();
  }
}

/// Calls leave_failure_here() out of line, so that a kernel with many waits contains one copy.
PGAS_COLD void leave_failure(control_block* control, std::uintptr_t my_slot, failure_record found) {
  leave_failure_here(control, my_slot, found);
}

/// Whether an entry of the table may be claimed for an answer to the current question: the last answer in the entry
/// belongs to an earlier question and is complete. (If the system interrupts a thread during its answer, the thread can
/// write its record after the host has asked again.)
[[nodiscard]] PGAS_FN bool is_free(const failure_record* record, std::uint64_t claimed, std::uint32_t question) {
  const auto last = static_cast<std::uint32_t>(claimed >> 32);
  return static_cast<std::int32_t>(last - question) < 0 && load_relaxed(&record->complete) == last;
}

/// A record for this thread's answer to the host's question; null if this thread has already answered the question or
/// there is no free record. The words by which threads claim a record are in device memory, because most links do not
/// support atomic operations of a GPU on host memory. If the table is large enough, each thread of a block has its own
/// entry. The first threads of different blocks also have different entries, and so do threads with equal indices in
/// consecutive launches. (A GPU tries one entry: a wait has few spare registers, and the wait with the most registers
/// determines the register count of its kernel.)
[[nodiscard]] PGAS_COLD failure_record* claim_answer(control_block* control, std::uintptr_t my_slot,
                                                     std::uint32_t question) {
  const std::uint32_t launch = place_launch();
  std::uint32_t place = (place_block() * 67 + place_thread() + launch * 41) % most_answers;
  const std::uint64_t mine =
      std::uint64_t{question} << 32 | ((place_block() * 1024 + place_thread()) ^ launch * 0x9e3779b1u);
  PGAS_ROLLED
  for (std::uint32_t tries = 0; tries < place_tries; ++tries) {
    auto* const claim = reinterpret_cast<std::uint64_t*>(my_slot + internal_area::answer_claims) + place;
    const std::uint64_t claimed = load_relaxed(claim);
    if (claimed == mine) return nullptr;
    if (is_free(opaque(control)->answers + place, claimed, question) &&
        compare_exchange(claim, claimed, mine) == claimed)
      return opaque(control)->answers + place;
    place = (place + 1) % most_answers;
  }
  store_relaxed(&control->unanswered, question);
  return nullptr;
}

/// Writes the record of a wait. For a wait that fails, calls leave_failure(). For a wait that answers the host, writes
/// one record for each question.
PGAS_FN void leave_record(control_block* control, std::uintptr_t my_slot, const failure_record& found) {
  if (found.why != failure::asked) return leave_failure(control, my_slot, found);
  const std::uint32_t question = load_relaxed(&control->question);
  if (question == 0) return;
  failure_record* const record = claim_answer(control, my_slot, question);
  if (record == nullptr) return;
  fence_acquire();  // the host has read the last answer in this record before it asked again
  fill_record(record, found);
  finish_record(record, question);
}

/// Like leave_record(), for callers with a context.
PGAS_FN void report(const context& ctx, const failure_record& found) {
  leave_record(ctx.control_, ctx.my_slot_, found);
}

}  // namespace pgas::detail
