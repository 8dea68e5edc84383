/// @file
/// The argument checks of device operations, with PGAS_CHECKS=1: an invalid argument leaves a failure record and ends
/// the kernel. Used by every operation; collective_argument_check.hpp has the checks of collectives.
#pragma once

#include "pgas/device/context.hpp"
#include "pgas/device/impl/sync/failure_report.hpp"
#include "pgas/signal_types.hpp"

namespace pgas::detail {

/// A record of an operation with invalid arguments.
[[nodiscard]] PGAS_FN failure_record bad_argument(failure why, operation what, std::int32_t pe, std::uint64_t offset,
                                                  std::uint64_t bytes) {
  failure_record found{};
  found.why = why;
  found.what = what;
  found.pe = pe;
  found.heap_offset = offset;
  found.bytes = bytes;
  return found;
}

/// Leaves the record. Out of line with few arguments, as report_proxy_failure().
PGAS_COLD void leave_bad_argument(control_block* control, std::uintptr_t my_slot, failure why, operation what,
                                  std::int32_t pe, std::uint64_t offset, std::uint64_t bytes) {
  leave_failure_here(control, my_slot, bad_argument(why, what, pe, offset, bytes));
}

/// The part of a context that the checks need, in as few registers as possible.
struct checked_heap {
  control_block* control;
  std::uintptr_t my_slot;
  std::int32_t n_pes;
};
[[nodiscard]] PGAS_FN checked_heap checked_heap_of(const context& ctx) {
  return {ctx.control_, ctx.my_slot_, ctx.n_pes()};
}

/// The fault of an access to `bytes` bytes from `offset` of a slot on, on PE `pe`; failure::none if the access is
/// valid.
[[nodiscard]] PGAS_FN failure find_fault(const checked_heap& heap, std::uint64_t offset, std::uint64_t bytes,
                                         std::size_t alignment, std::int32_t pe) {
  const auto inside = [&](std::uint64_t begin, std::uint64_t end) {
    return offset >= begin && offset <= end && bytes <= end - offset;
  };
  if (pe < 0 || pe >= heap.n_pes) return failure::pe_out_of_range;
  if (bytes == 0) return failure::none;
  const control_block& mapped = *heap.control;
  if (!inside(0, load_relaxed(&mapped.heap_bytes)) &&
      !inside(load_relaxed(&mapped.team_segments_begin), load_relaxed(&mapped.team_segments_end)))
    return failure::outside_heap;
  if (((heap.my_slot + offset) & (alignment - 1)) != 0) return failure::misaligned;
  return failure::none;
}

/// find_fault() that ends the caller; with checks on every device operation calls it. Inline for operations on one
/// word, to keep their kernels small; out of line for the others.
PGAS_FN void check_here(const checked_heap& heap, operation what, const volatile void* local, std::uint64_t bytes,
                        std::size_t alignment, std::int32_t pe) {
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(local) - heap.my_slot;
  const failure why = find_fault(heap, offset, bytes, alignment, pe);
  if (why == failure::none) return;
  leave_bad_argument(heap.control, heap.my_slot, why, what, pe, offset, bytes);
  end_thread();
}

/// An access to an array, in the memory of its thread, so that the call costs its caller one address.
struct checked_access {
  checked_heap heap;
  operation what;
  std::int32_t pe;
  const volatile void* local;
  std::uint64_t bytes;
  std::size_t alignment;
};
PGAS_COLD void check_access(const checked_access* access) {
  check_here(access->heap, access->what, access->local, access->bytes, access->alignment, access->pe);
}

/// Ends the thread because of an argument that is not an address.
PGAS_COLD void refuse(checked_heap heap, operation what, const volatile void* local) {
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(local) - heap.my_slot;
  leave_bad_argument(heap.control, heap.my_slot, failure::no_such_value, what, -1, offset, 0);
  end_thread();
}

/// Ends the thread if checks are on and the call is not `sound`. A sound call has known enumerators, and pointers to
/// its comparison values.
PGAS_FN void check_sound(const context& ctx, operation what, const volatile void* local, bool sound) {
  if (ctx.checks()) PGAS_UNLIKELY {
    if (!sound) refuse(checked_heap_of(ctx), what, local);
  }
}
[[nodiscard]] PGAS_FN bool known(cmp op) { return op >= cmp::eq && op <= cmp::ge; }
[[nodiscard]] PGAS_FN bool known(signal_op op) { return op == signal_op::set || op == signal_op::add; }

/// Checks an access to the element at `local` on PE `pe`, if checks are on.
template <class T>
PGAS_FN void check(const context& ctx, operation what, const T* local, std::int32_t pe) {
  if (ctx.checks()) PGAS_UNLIKELY
    check_here(checked_heap_of(ctx), what, local, sizeof(T), alignof(T), pe);
}

/// The same for `count` elements.
template <class T>
PGAS_FN void check(const context& ctx, operation what, const T* local, std::size_t count, std::int32_t pe) {
  constexpr std::uint64_t huge = ~std::uint64_t{0};
  if (ctx.checks()) PGAS_UNLIKELY {
    const checked_access access{
        checked_heap_of(ctx), what, pe, local, count > huge / sizeof(T) ? huge : count * sizeof(T), alignof(T)};
    check_access(&access);
  }
}

/// Whether the arguments of a wait for a word are valid; otherwise leaves a record. Out of line: instructions between a
/// successful poll and the signal after it take time even if they are not executed, because they are fetched. The
/// function does not end the caller itself: nvcc (13.0) limits a kernel with 512 threads to 64 registers if it calls a
/// function that does.
template <class T>
[[nodiscard]] PGAS_COLD bool sound_wait(const context* copy, const T* ivar, cmp op) {
  const context& ctx = *copy;
  const checked_heap heap = checked_heap_of(ctx);
  const std::uint64_t offset = ctx.offset(ivar);
  const failure why = find_fault(heap, offset, sizeof(T), alignof(T), ctx.my_pe());
  if (why != failure::none)
    leave_bad_argument(heap.control, heap.my_slot, why, operation::wait, ctx.my_pe(), offset, sizeof(T));
  else if (!known(op))
    leave_bad_argument(heap.control, heap.my_slot, failure::no_such_value, operation::wait, -1, offset, 0);
  return why == failure::none && known(op);
}
/// Ends the caller if checks are on and the arguments of the wait are invalid.
template <class T>
PGAS_FN void check_awaited(const context& ctx, const T* ivar, cmp op) {
  if (ctx.checks()) PGAS_UNLIKELY {
    if (!sound_wait(ctx.copy_, ivar, op)) end_thread();
  }
}

}  // namespace pgas::detail
