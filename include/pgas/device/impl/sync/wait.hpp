/// @file
/// The bounded wait. A wait polls, and checks the abort word, the deadline and the host's question every few thousand
/// polls. The wait fails if the abort word is set or the deadline has passed. A failed wait leaves a failure record.
/// Used by every wait of the library.
#pragma once

#include "pgas/detail/poll_fairness.hpp"
#include "pgas/device/impl/sync/failure_report.hpp"
#include "pgas/device/impl/trace/traced_operation.hpp"
#include "pgas/signal_types.hpp"

namespace pgas::detail {

/// The state of a wait: the time of its first check, and the reason to end the wait. The time is 0 before the first
/// check. The reason is `none` while the wait may continue, and `asked` if the wait must report what it waits for.
struct wait_state {
  std::uint64_t since;
  failure why;
};

/// The next state of a wait. If `Answers` is false, the wait ignores the host's question.
template <bool Answers>
[[nodiscard]] PGAS_FN wait_state next_state(const control_block* control, std::uint64_t since, std::uint64_t limit) {
  // A GPU reads the host's memory slowly, so all loads of host memory come first: the latencies of the loads overlap.
  const std::uint32_t abort = load_relaxed(&control->abort);
  const std::uint32_t gave_up = load_relaxed(&control->record.complete);
  const std::uint32_t question = Answers ? load_relaxed(&control->question) : 0;
  const std::uint64_t timeout = limit != 0 ? limit : load_relaxed(&control->wait_timeout_ns);
  // If a wait of a thread of this PE has failed, the waits of the other threads end too, because these threads may wait
  // for a later operation of that thread.
  if ((abort | gave_up) != 0) return {since, failure::aborted};
  const std::uint64_t now = clock_ns();
  if (since == 0) since = now;
  if (timeout != 0 && now - since >= timeout) return {since, failure::timed_out};
  yield_now_and_then(&control->bell, now - since);
  return {since, question != 0 ? failure::asked : failure::none};
}

/// next_state() out of line. All code that a wait does not execute in each poll is out of line, because instructions
/// between a successful poll and the following code cost time.
[[nodiscard]] PGAS_OUTLINE wait_state check_wait(const control_block* control, std::uint64_t since,
                                                 std::uint64_t limit = 0) {
  return next_state<true>(control, since, limit);
}

/// Calls `poll` until it returns true, the world is aborted, the deadline passes, or the host asks. On return `now` has
/// the reason. If the host asked, the caller calls the function again to continue the wait. `poll` makes relaxed loads;
/// the caller adds the acquire fence.
/// @param between number of polls from one check to the next @param limit time limit of the wait, in nanoseconds; 0:
/// the limit of the world
template <class Poll>
[[nodiscard]] PGAS_FN failure poll_until(const control_block* control, wait_state& now, const Poll& poll,
                                         std::uint32_t between = polls_between_checks, std::uint64_t limit = 0) {
  now.why = failure::none;
  for (;;) {
    PGAS_ROLLED
    for (std::uint32_t i = 0; i < between; ++i) {
      if (poll()) return failure::none;
    }
    // Returns the reason only after another round of polls, so that a late arrival is not lost.
    if (now.why != failure::none) return now.why;
    now = check_wait(control, now.since, limit);
  }
}

/// Like poll_until(), but continues after questions, until `poll` succeeds or the wait must end. Leaves a record when
/// the wait fails, and when the host asks.
/// @param about a function that makes the record of this wait from a wait_state
template <class Poll, class About>
[[nodiscard]] PGAS_FN failure poll_until(const control_block* control, const Poll& poll, const About& about,
                                         std::uint32_t between = polls_between_checks, std::uint64_t limit = 0) {
  wait_state now{0, failure::none};
  for (;;) {
    const failure why = poll_until(control, now, poll, between, limit);
    if (why == failure::none) return why;
    about(now);
    if (why != failure::asked) return why;
  }
}

/// Like poll_until(), but does not answer questions, for a wait that has too few registers for answers. @return The
/// reason why the wait failed, or none.
template <class Poll>
[[nodiscard]] PGAS_FN failure poll_quietly(const control_block* control, const Poll& poll,
                                           std::uint32_t between = polls_between_checks) {
  wait_state now{0, failure::none};
  for (;;) {
    PGAS_ROLLED
    for (std::uint32_t i = 0; i < between; ++i) {
      if (poll()) return failure::none;
    }
    if (now.why != failure::none) return now.why;
    now = next_state<false>(control, now.since, 0);
  }
}

/// A value in a record: sign-extended, so the host can print it as signed or unsigned.
template <class T>
[[nodiscard]] PGAS_FN std::uint64_t as_recorded(T value) {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

/// The record of a wait that fails. `pe` is -1 if the wait can't know the missing PE.
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

/// The record of a wait that fails or answers a question.
template <class T>
[[nodiscard]] PGAS_FN failure_record wait_record(wait_state now, operation what, std::int32_t pe, std::uint64_t offset,
                                                 cmp op, T expected, T seen) {
  failure_record found = lost_wait(now.why, what, pe, offset, op, expected, seen);
  if (now.why == failure::asked) found.limit_ms = static_cast<std::uint32_t>((clock_ns() - now.since) / 1'000'000u);
  return found;
}

/// The result of a wait for a word: whether the value arrived, and the value.
template <class T>
struct word_seen {
  bool came;
  T value;
};

/// The continuation of poll_word() after the first polls have not seen the value.
template <class T>
[[nodiscard]] PGAS_COLD word_seen<T> poll_word_on(const context* copy, const T* ivar, cmp op, T value) {
  const context& ctx = *copy;
  T seen{};
  const failure why = poll_until(
      ctx.control_,
      [&] {
        seen = load_relaxed(ivar);
        return compare(seen, op, value);
      },
      [&](wait_state now) { report(ctx, wait_record(now, operation::wait, -1, ctx.offset(ivar), op, value, seen)); });
  if (why != failure::none) PGAS_UNLIKELY
    return {false, seen};
  fence_acquire();
  return {true, seen};
}

/// Waits, by the calling thread only, until `*ivar op value`; then acquires and returns found(value). If the wait
/// fails, leaves a record and returns lost(). If the value arrives soon, no test follows the polls, so the time until
/// the next operation is short.
template <class T, class Found, class Lost>
PGAS_FN auto poll_word(const context& ctx, const T* ivar, cmp op, T value, const Found& found, const Lost& lost) {
  PGAS_ROLLED
  for (std::uint32_t i = 0; i < polls_in_line; ++i) {
    const T seen = load_relaxed(ivar);
    if (!compare(seen, op, value)) continue;
    fence_acquire();
    return found(seen);
  }
  const word_seen<T> end = poll_word_on(ctx.copy_, ivar, op, value);
  return end.came ? found(end.value) : lost();
}

/// Like poll_word(), but with a trace record. Stores the value in `seen`, or returns false.
template <class T>
[[nodiscard]] PGAS_FN bool wait_word(const context& ctx, const T* ivar, cmp op, T value, T& seen) {
  traced_operation traced(ctx, this_thread{}, operation::wait);
  const auto found = [&](T word) {
    traced.saw(ctx, ivar, op, as_recorded(value), as_recorded(word));
    seen = word;
    return true;
  };
  return poll_word(ctx, ivar, op, value, found, [] { return false; });
}

/// Like the wait_word() that stores the value in `seen`, but returns the value, and ends the thread if the wait fails.
template <class T>
PGAS_FN T wait_word_or_end(const context& ctx, const T* ivar, cmp op, T value) {
  traced_operation traced(ctx, this_thread{}, operation::wait);
  const auto found = [&](T word) {
    traced.saw(ctx, ivar, op, as_recorded(value), as_recorded(word));
    return word;
  };
  const auto lost = [&]() -> T {
    traced.end();
    end_thread();
  };
  return poll_word(ctx, ivar, op, value, found, lost);
}

}  // namespace pgas::detail
