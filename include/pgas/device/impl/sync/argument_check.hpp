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

/// The part of a context that the checks need, in as few registers as possible.
struct checked_heap {
  control_block* control;
  std::uintptr_t my_slot;
  std::int32_t n_pes;
};
[[nodiscard]] PGAS_FN checked_heap checked_heap_of(const context& ctx) {
  return {ctx.control_, ctx.my_slot_, ctx.n_pes()};
}

/// The reason why an access to `bytes` bytes at `offset` in PE `pe`'s slot is invalid; failure::none if the access is
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

/// The arguments of the check of one array. The caller builds the struct in its local memory and passes the address of
/// the struct, so that the call takes one argument.
struct checked_access {
  checked_heap heap;
  operation what;
  std::int32_t pe;
  const volatile void* local;
  std::uint64_t bytes;
  std::size_t alignment;

  /// The offset of `local` from the start of this PE's slot, in bytes.
  [[nodiscard]] PGAS_FN std::uint64_t offset() const { return reinterpret_cast<std::uintptr_t>(local) - heap.my_slot; }
};

/// Writes the failure record of an access with invalid arguments.
PGAS_COLD void leave_bad_argument(const checked_access* access, failure why) {
  leave_failure_here(access->heap.control, access->heap.my_slot,
                     bad_argument(why, access->what, access->pe, access->offset(), access->bytes));
}

/// Like find_fault(), but ends the caller if it finds a fault.
PGAS_COLD void check_access(const checked_access* access) {
  const failure why = find_fault(access->heap, access->offset(), access->bytes, access->alignment, access->pe);
  if (why == failure::none) return;
  leave_bad_argument(access, why);
  end_thread();
}
/// Calls check_access() for the given arguments. With checks on, every device operation calls this function.
PGAS_FN void check_here(const checked_heap& heap, operation what, const volatile void* local, std::uint64_t bytes,
                        std::size_t alignment, std::int32_t pe) {
  const checked_access access{heap, what, pe, local, bytes, alignment};
  check_access(&access);
}

/// Ends the thread because of an argument that is not an address.
PGAS_COLD void refuse(checked_heap heap, operation what, const volatile void* local) {
  const checked_access access{heap, what, -1, local, 0, 1};
  leave_bad_argument(&access, failure::no_such_value);
  end_thread();
}

/// Ends the thread if checks are on and `sound` is false. A call is sound if its enumerators are known and the pointers
/// to its comparison values are not null.
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

/// Like check(), for `count` elements.
template <class T>
PGAS_FN void check(const context& ctx, operation what, const T* local, std::size_t count, std::int32_t pe) {
  constexpr std::uint64_t huge = ~std::uint64_t{0};
  if (ctx.checks()) PGAS_UNLIKELY {
    check_here(checked_heap_of(ctx), what, local, count > huge / sizeof(T) ? huge : count * sizeof(T), alignof(T), pe);
  }
}

/// Whether the arguments of a wait for a word are valid. If the arguments are not valid, the function leaves a record,
/// and the caller ends the thread. The function is out of line. In an inline function, the GPU would fetch the
/// instructions of the check between a successful poll and the following signal. The fetch takes time even if the GPU
/// does not execute the instructions. The function does not end the thread, because nvcc 13.0 limits a kernel of 512
/// threads to 64 registers if the kernel calls a function that ends the thread.
template <class T>
[[nodiscard]] PGAS_COLD bool sound_wait(const context* copy, const T* ivar, cmp op) {
  const context& ctx = *copy;
  checked_access access{checked_heap_of(ctx), operation::wait, ctx.my_pe(), ivar, sizeof(T), alignof(T)};
  failure why = find_fault(access.heap, access.offset(), sizeof(T), alignof(T), ctx.my_pe());
  if (why == failure::none && !known(op)) {
    why = failure::no_such_value;
    access.pe = -1;
    access.bytes = 0;
  }
  if (why != failure::none) leave_bad_argument(&access, why);
  return why == failure::none;
}
/// Ends the caller if checks are on and the arguments of the wait are invalid.
template <class T>
PGAS_FN void check_awaited(const context& ctx, const T* ivar, cmp op) {
  if (ctx.checks()) PGAS_UNLIKELY {
    if (!sound_wait(ctx.copy_, ivar, op)) end_thread();
  }
}

}  // namespace pgas::detail
