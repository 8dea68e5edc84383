/// @file
/// The all-to-all barrier: every member adds one to its own word at every other member, then waits for the others'
/// words here. One flight over the link whatever the number of PEs, and the sender needs to know nothing before it
/// sends.
///
/// Each thread of the group takes some members, arrives at them and waits for them. Releases are made by the arriving
/// threads themselves (one MEMBAR for a warp), after a sync of the group, so that what any thread of the group did
/// before is covered; each acquires for itself, before the sync that lets the group go on. The first warp releases even
/// where it arrives nowhere: the barrier counts as a fence for what its threads send later, to whatever PE.
///
/// Teams with members that load and store do not reach meet as `domain_barrier.hpp` says.
#pragma once

#include "pgas/device/impl/agree.hpp"
#include "pgas/device/impl/domain_barrier.hpp"

namespace pgas::detail {

/// Says who is missing among the members of one thread's share.
PGAS_COLD void report_missing(context ctx, team_view team, operation what, failure why, std::int32_t rank,
                              std::int32_t size) {
  for (std::int32_t i = rank; i < team.n_pes(); i += size) {
    const member_words* const state = member_state(ctx, team, i);
    const std::uint64_t due = load_relaxed(&state->waited) + 1;
    const std::uint64_t seen = load_relaxed(&state->arrived);
    if (i == team.my_pe() || seen >= due) continue;
    report(ctx, lost_wait(why, what, team.world_pe(i), ctx.offset(state), cmp::ge, due, seen));
    return;
  }
  report(ctx, lost_wait(why, what, -1, team.channel_offset(), cmp::ge, std::uint64_t{0}, std::uint64_t{0}));
}

/// Waits for members base, base + size, ... as far as they exist, at most Batch of them, all polled at once.
template <std::uint32_t Batch>
[[nodiscard]] PGAS_FN failure await_members(const context& ctx, const team_view& team, std::int32_t base,
                                            std::int32_t size) {
  member_words* state[Batch];
  bool meets[Batch];
  std::uint64_t due[Batch];
  PGAS_UNROLL
  for (std::uint32_t k = 0; k < Batch; ++k) {
    const std::int32_t i = base + static_cast<std::int32_t>(k) * size;
    meets[k] = i < team.n_pes() && i != team.my_pe();
    state[k] = member_state(ctx, team, meets[k] ? i : base);  // another word is cheaper than a branch between two loads
    due[k] = load_relaxed(&state[k]->waited) + 1;
  }
  const failure why = poll_until(ctx.control_, [&] {
    std::uint64_t seen[Batch];
    PGAS_UNROLL
    for (std::uint32_t k = 0; k < Batch; ++k) seen[k] = load_relaxed(&state[k]->arrived);
    std::uint64_t behind = 0;  // its top bit: some count is below what is due
    PGAS_UNROLL
    for (std::uint32_t k = 0; k < Batch; ++k) behind |= meets[k] ? seen[k] - due[k] : 0;
    return behind >> 63 == 0;
  });
  if (why == failure::none) {
    PGAS_UNROLL
    for (std::uint32_t k = 0; k < Batch; ++k) {
      if (meets[k]) store_relaxed(&state[k]->waited, due[k]);
    }
  }
  return why;
}

/// One thread's share of arriving: at members rank, rank + size, ...
template <arrival Arrival>
PGAS_FN void arrive_share(const context& ctx, const team_view& team, std::int32_t rank, std::int32_t size) {
  const std::int32_t me = team.my_pe();
  const bool alone = rank >= team.n_pes() || (rank == me && rank + size >= team.n_pes());  // nobody else to meet
  if constexpr (Arrival == arrival::release) {
    if (!alone || rank < 32) fence_release();
  }
  if (alone) return;
  std::uint64_t* const mine = &member_state(ctx, team, me)->arrived;
  for (std::int32_t i = rank; i < team.n_pes(); i += size) {
    if (i == me) continue;
    reduce<rmw::add>(ctx.world_remote(mine, team.world_pe(i)), std::uint64_t{1});
  }
}

/// One thread's share of waiting: for members rank, rank + size, ... False if it ended early; the record is written
/// then.
[[nodiscard]] PGAS_FN bool await_share(const context& ctx, const team_view& team, operation what, std::int32_t rank,
                                       std::int32_t size) {
  if (rank >= team.n_pes() || (rank == team.my_pe() && rank + size >= team.n_pes())) return true;
  constexpr std::uint32_t batch = 4;
  std::int32_t base = rank;
  failure why = failure::none;
  if (size >= team.n_pes()) {
    why = await_members<1>(ctx, team, base, size);
  } else {
    for (; base < team.n_pes(); base += static_cast<std::int32_t>(batch) * size) {
      why = await_members<batch>(ctx, team, base, size);
      if (why != failure::none) break;
    }
  }
  if (why != failure::none) PGAS_UNLIKELY {
    report_missing(ctx, team, what, why, base, size);
    return false;
  }
  fence_acquire();
  return true;
}

/// Ends the thread unless the caller belongs to `team` and the channel exists. With checks on. The library's own
/// channel lies behind the last one.
PGAS_COLD void check_member_slowly(context ctx, team_view team, operation what) {
  failure why = failure::none;
  if (team.my_pe() < 0)
    why = failure::not_a_member;
  else if (team.channel_ < 0 || team.channel_ > team.n_channels())
    why = failure::bad_channel;
  if (why == failure::none) return;
  report(ctx, bad_argument(why, what, ctx.world_pe_, team.state_offset_, static_cast<std::uint64_t>(team.channel_)));
  end_thread();
}

/// The first half of a barrier, for all threads of `g`: what any of them did before is covered, also what they handed
/// to the proxy.
template <arrival Arrival, PGAS_IS(group) G>
PGAS_FN void arrive(const context& ctx, const G& g, const team_view& team) {
  if constexpr (Arrival == arrival::release) settle_all(ctx, g, operation::barrier);
  if (may_span_domains(ctx, team)) PGAS_UNLIKELY {
    const arrived_as by_domains = count_together<Arrival>(domain_channel_of(ctx, team), g);
    if (by_domains == arrived_as::last) {
      const telling all{domain_channel_of(ctx, team), meeting<Arrival>, static_cast<std::int32_t>(g.thread_rank()),
                        static_cast<std::int32_t>(g.size())};
      tell_domains(&all);
    }
    if (by_domains != arrived_as::otherwise) return;
  }
  g.sync();
  arrive_share<Arrival>(ctx, team, static_cast<std::int32_t>(g.thread_rank()), static_cast<std::int32_t>(g.size()));
}

/// The calling thread's share of the second half.
template <PGAS_IS(group) G>
[[nodiscard]] PGAS_FN bool await(const context& ctx, const G& g, const team_view& team, operation what) {
  if (may_span_domains(ctx, team)) PGAS_UNLIKELY {
    const awaited by_domains = await_domains(domain_channel_of(ctx, team), g, what);
    if (by_domains != awaited::otherwise) return by_domains == awaited::complete;
  }
  return await_share(ctx, team, what, static_cast<std::int32_t>(g.thread_rank()), static_cast<std::int32_t>(g.size()));
}

/// A barrier that ends the group if it can't be completed. Records call it `what`.
template <arrival Arrival, PGAS_IS(group) G>
PGAS_FN void barrier_or_end(const context& ctx, const G& g, const team_view& team, operation what = meeting<Arrival>) {
  if (ctx.checks()) PGAS_UNLIKELY
    check_member_slowly(ctx, team, what);
  arrive<Arrival>(ctx, g, team);
  go_on_together(g, !await(ctx, g, team, what));
}

/// barrier_or_end() for collectives, which do more than meet: out of line, once for each kind of group.
template <PGAS_IS(group) G>
PGAS_OUTLINE_IN_UNIT void meet_or_end(context ctx, G g, team_view team, operation what) {
  barrier_or_end<arrival::release>(ctx, g, team, what);
}

}  // namespace pgas::detail
