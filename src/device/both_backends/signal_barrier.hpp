/// @file
/// Barriers that use words of the caller as semaphores, one word for each member. Each member adds 1 to its word on
/// every other member, and then subtracts 1 from each of its own words. A barrier does not depend on the number of
/// earlier barriers, so a barrier can be a part of a graph. The words are zero when all members have left the barrier.
#pragma once

#include "pgas/device/atomic.hpp"
#include "pgas/device/collective.hpp"
#include "pgas/device/fence_quiet.hpp"
#include "pgas/device/signal.hpp"

namespace pgas::detail {

/// Waits for the signal of member `from`, and subtracts the signal from the word. Called by one thread. Returns false
/// if a wait failed and the thread must end.
PGAS_FN bool take_signal(const context& ctx, const team_view& team, signal_t* words, std::int32_t from, operation what,
                         std::uint32_t limit_ms) {
  constexpr std::uint64_t ns_per_ms = 1'000'000;
  signal_t seen = 0;
  const failure why = poll_until(
      ctx.control_,
      [&] {
        seen = load_relaxed(words + from);
        return seen >= 1;
      },
      [&](wait_state now) {
        failure_record found =
            wait_record(now, what, team.world_pe(from), ctx.offset(words + from), cmp::ge, signal_t{1}, seen);
        if (now.why != failure::asked) found.limit_ms = limit_ms;
        report(ctx, found);
      },
      polls_between_checks, limit_ms * ns_per_ms);
  if (why != failure::none) PGAS_UNLIKELY
    return false;
  fence_acquire();
  atomic_add(ctx, words + from, ~signal_t{0}, ctx.my_pe());
  return true;
}

/// Executes the barrier. If `from` is a member, only waits for the signal of this member and sends no signals.
template <group G>
PGAS_FN void word_barrier(const context& ctx, const G& g, const team_view& team, signal_t* words, std::int32_t from,
                          std::uint32_t limit_ms) {
  const auto rank = static_cast<std::int32_t>(g.thread_rank());
  const auto size = static_cast<std::int32_t>(g.size());
  bool complete = true;
  if (from >= 0) {
    if (rank == 0) complete = take_signal(ctx, team, words, from, operation::wait, limit_ms);
  } else {
    quiet(ctx, g);
    for (std::int32_t to = rank; to < team.n_pes(); to += size)
      signal_add(ctx, words + team.my_pe(), 1, team.world_pe(to));
    for (std::int32_t each = rank; complete && each < team.n_pes(); each += size)
      complete = take_signal(ctx, team, words, each, operation::barrier, limit_ms);
  }
  exit_if_any(g, !complete);
}

}  // namespace pgas::detail
