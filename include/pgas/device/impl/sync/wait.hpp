/// @file
/// The bounded wait: polls, and checks abort word and deadline every few thousand polls. Used by every wait of the
/// library.
#pragma once

#include "pgas/detail/poll_fairness.hpp"
#include "pgas/device/impl/sync/failure_report.hpp"
#include "pgas/signal_types.hpp"

namespace pgas::detail {

/// The deadline of a wait, 0 until the first check and ~0 where there is none; and why the wait must end, none while it
/// may go on.
struct wait_limit {
  std::uint64_t at;
  failure why;
};

[[nodiscard]] PGAS_FN wait_limit check_abort(const control_block* control, std::uint64_t at) {
  constexpr std::uint64_t never = ~std::uint64_t{0};
  // A thread of this PE that has given up ends the waits of the others: they may wait for its next operation.
  if (load_relaxed(&control->abort) != 0 || load_relaxed(&control->record.complete) != 0) return {at, failure::aborted};
  if (at == 0) {
    const std::uint64_t timeout = load_relaxed(&control->wait_timeout_ns);
    const std::uint64_t now = clock_ns();
    at = timeout == 0 || timeout > never - now ? never : now + timeout;
  } else if (at != never && clock_ns() >= at) {
    return {at, failure::timed_out};
  }
  yield_now_and_then();
  return {at, failure::none};
}

/// Calls `poll` until it returns true, the world is aborted or the deadline passes. `poll` makes relaxed loads; the
/// caller adds the acquire fence. @param between polls from one check to the next @param deadline in place of the
/// world's, as clock_ns() counts; 0: the world's
template <class Poll>
[[nodiscard]] PGAS_FN failure poll_until(const control_block* control, const Poll& poll,
                                         std::uint32_t between = polls_between_checks, std::uint64_t deadline = 0) {
  wait_limit p{deadline, failure::none};
  for (;;) {
    PGAS_ROLLED
    for (std::uint32_t i = 0; i < between; ++i) {
      if (poll()) return failure::none;
    }
    if (p.why != failure::none) return p.why;  // after one more round of polls: an arrival in time is not lost
    p = check_abort(control, p.at);
  }
}

/// A value in a record: sign-extended, so that the host can print it either way.
template <class T>
[[nodiscard]] PGAS_FN std::uint64_t as_recorded(T value) {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

/// The record of a wait that gave up. `pe` is -1 where the wait can't know the missing PE.
template <class T>
[[nodiscard]] PGAS_FN failure_record lost_wait(failure why, operation what, std::int32_t pe, std::uint64_t offset,
                                               cmp op, T expected, T seen) {
  failure_record found{};
  found.why = why;
  found.what = what;
  found.pe = pe;
  found.heap_offset = offset;
  found.bytes = sizeof(T);
  found.expected = as_recorded(expected);
  found.seen = as_recorded(seen);
  found.compare = static_cast<std::int32_t>(op);
  return found;
}

/// Waits until `*ivar op value`; the calling thread alone. Leaves the value in `seen`; acquires. False if it gave up;
/// the record is written then.
template <class T>
[[nodiscard]] PGAS_FN bool wait_word(const context& ctx, const T* ivar, cmp op, T value, T& seen) {
  const failure why = poll_until(ctx.control_, [&] {
    seen = load_relaxed(ivar);
    return compare(seen, op, value);
  });
  if (why != failure::none) PGAS_UNLIKELY {
    report(ctx, lost_wait(why, operation::wait, -1, ctx.offset(ivar), op, value, seen));
    return false;
  }
  fence_acquire();
  return true;
}

}  // namespace pgas::detail
