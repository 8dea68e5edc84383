/// @file
/// The barrier of a team: every member adds one to its own word at every other member, then waits for the other
/// members' words on this PE. Used by `device/barrier.hpp` and all collectives. This all-to-all barrier (a
/// dissemination barrier of one round) takes one link latency for any number of PEs. An arrival does not wait for
/// another PE.
///
/// Each thread of the group arrives at some members and waits for these members. After a sync of the group, the
/// arriving threads execute a release (one MEMBAR for a warp). The release orders the earlier accesses of all threads
/// of the group. Each thread executes an acquire before the sync that ends the barrier. The threads that execute the
/// fence of a group execute a release even if they arrive at no member, because the barrier is also a fence for later
/// operations of these threads to any PE.
///
/// Teams that span domains use `hierarchical_barrier.hpp`.
#pragma once

#include "pgas/device/impl/hierarchy/hierarchical_barrier.hpp"
#include "pgas/device/impl/sync/argument_check.hpp"
#include "pgas/device/impl/sync/thread_group_vote.hpp"
#include "pgas/signal_types.hpp"

namespace pgas::detail {

/// The member `k` positions after member `me` of `n`, 0 <= k <= n.
[[nodiscard]] PGAS_FN std::int32_t member_behind(std::int32_t me, std::int32_t k, std::int32_t n) {
  return me + k < n ? me + k : me + k - n;
}

/// The number of other members, and the `k`th other member. The order begins with the member after this PE, so the
/// members do not all arrive at one member at the same time. The indices -1 and others_of() mean this PE.
[[nodiscard]] PGAS_FN std::int32_t others_of(const team_view& team) { return team.n_pes() - 1; }
[[nodiscard]] PGAS_FN std::int32_t other_member(const team_view& team, std::int32_t k) {
  return member_behind(team.my_pe(), 1 + k, team.n_pes());
}

/// Writes the record of a wait that fails or that answers a question. The record names a missing member of this
/// thread's share.
PGAS_COLD void report_missing(const context* copy, team_view team, operation what, wait_state now, std::int32_t rank,
                              std::int32_t size) {
  const context& ctx = *copy;
  std::int32_t k = rank;
  std::uint64_t due = 0;
  std::uint64_t seen = 0;
  for (; k < others_of(team); k += size) {
    const member_words* const state = member_state(ctx, team, other_member(team, k));
    due = load_relaxed(&state->waited) + 1;
    seen = load_relaxed(&state->arrived);
    if (seen < due) break;
  }
  const bool found = k < others_of(team);
  const std::int32_t i = other_member(team, found ? k : rank);
  report(ctx, wait_record(now, what, found ? team.world_pe(i) : -1, ctx.offset(member_state(ctx, team, i)), cmp::ge,
                          due, seen));
}

/// The members `base`, `base + size`, ... that exist, at most `Batch` members. A thread polls these members at the same
/// time.
template <std::uint32_t Batch>
struct awaited_members {
  member_words* state[Batch];
  bool exists[Batch];
  std::uint64_t waited[Batch];  // first used after the loads of the first poll, so the latencies overlap

  PGAS_FN awaited_members(const context& ctx, const team_view& team, std::int32_t base, std::int32_t size) {
    PGAS_UNROLL
    for (std::uint32_t b = 0; b < Batch; ++b) {
      const std::int32_t k = base + static_cast<std::int32_t>(b) * size;
      exists[b] = b == 0 || k < others_of(team);
      // If a member does not exist, the word of an existing member is loaded: an additional load is cheaper than a
      // branch.
      state[b] = member_state(ctx, team, other_member(team, exists[b] ? k : base));
      waited[b] = load_relaxed(&state[b]->waited);
    }
  }
  [[nodiscard]] PGAS_FN bool have_arrived() const {
    std::uint64_t seen[Batch];
    PGAS_UNROLL
    for (std::uint32_t b = 0; b < Batch; ++b) seen[b] = load_relaxed(&state[b]->arrived);
    bool complete = true;
    PGAS_UNROLL
    for (std::uint32_t b = 0; b < Batch; ++b) complete &= !exists[b] || seen[b] > waited[b];
    return complete;
  }
  PGAS_FN void count() const {
    PGAS_UNROLL
    for (std::uint32_t b = 0; b < Batch; ++b) {
      if (exists[b]) store_relaxed(&state[b]->waited, waited[b] + 1);
    }
  }
};

/// The maximum number of members that a thread polls at the same time.
inline constexpr std::uint32_t most_polled = 4;

/// Waits for these members.
template <std::uint32_t Batch>
[[nodiscard]] PGAS_FN failure await_members(const context& ctx, const team_view& team, wait_state& now,
                                            std::int32_t base, std::int32_t size) {
  const awaited_members<Batch> members(ctx, team, base, size);
  const failure why = poll_until(ctx.control_, now, [&] { return members.have_arrived(); });
  if (why == failure::none) members.count();
  return why;
}

/// Like await_members(), but with few polls. @return False if some members have not arrived.
template <std::uint32_t Batch>
[[nodiscard]] PGAS_FN bool come_soon(const context& ctx, const team_view& team, std::int32_t base, std::int32_t size) {
  const awaited_members<Batch> members(ctx, team, base, size);
  PGAS_ROLLED
  for (std::uint32_t i = 0; i < polls_in_line; ++i) {
    if (!members.have_arrived()) continue;
    members.count();
    return true;
  }
  return false;
}

/// One thread's part of an arrival: the thread notifies the members `rank`, `rank + size`, ...
template <arrival Arrival>
PGAS_FN void arrive_share(const context& ctx, const team_view& team, std::int32_t rank, std::int32_t size) {
  const std::int32_t others = others_of(team);
  if constexpr (Arrival == arrival::release) {
    if (rank < others || rank < threads_that_fence) fence_release();
  }
  std::uint64_t* const mine = &member_state(ctx, team, team.my_pe())->arrived;
  PGAS_ROLLED
  for (std::int32_t k = rank; k < others; k += size)
    reduce<rmw::add>(ctx.world_remote(mine, team.world_pe(other_member(team, k))), std::uint64_t{1});
}

/// One thread's part of a wait: the thread waits for the members `rank`, `rank + size`, ... @return False if a wait
/// failed and the thread has written the failure record.
PGAS_OUTLINE bool await_several(const context* copy, const team_view* members, operation what, std::int32_t rank,
                                std::int32_t size) {
  constexpr auto batch = static_cast<std::int32_t>(most_polled);
  const context& ctx = *copy;
  const team_view team = *members;
  const std::int32_t others = others_of(team);
  wait_state now{0, failure::none};
  std::int32_t base = rank;
  for (;;) {
    failure why = failure::none;
    PGAS_ROLLED
    for (; base + size < others; base += batch * size) {
      why = await_members<most_polled>(ctx, team, now, base, size);
      if (why != failure::none) break;
    }
    if (why == failure::none && base < others)
      why = await_members<1>(ctx, team, now, base, size);  // usually the only member
    if (why == failure::none) break;
    report_missing(copy, team, what, now, base, size);
    if (why != failure::asked) return false;
  }
  fence_acquire();
  return true;
}

/// Like await_several(), but inline for a thread with one member that arrives soon, and for a group of one thread. The
/// number of instructions matters: a group executes the instructions once per link latency, and if there are more than
/// a few hundred instructions, the GPU fetches the instructions again each time. @tparam Alone whether the group is
/// this thread
template <bool Alone>
[[nodiscard]] PGAS_FN bool await_share(const context& ctx, const team_view& team, operation what, std::int32_t rank,
                                       std::int32_t size) {
  const std::int32_t others = others_of(team);
  if (rank >= others) return true;
  std::int32_t base = rank;
  bool soon = others <= size && come_soon<1>(ctx, team, base, size);
  if constexpr (Alone) {
    if (others > size) {
      soon = true;
      PGAS_ROLLED
      for (; base < others; base += static_cast<std::int32_t>(most_polled)) {
        soon = come_soon<most_polled>(ctx, team, base, size);
        if (!soon) break;
      }
    }
  }
  if (soon) {
    fence_acquire();
    return true;
  }
  const team_view members = team;
  return await_several(ctx.copy_, &members, what, base, size);
}

/// Ends the thread unless the caller belongs to `team` and the channel exists. Called with checks on. The channel of
/// the library follows the last channel of the team.
PGAS_COLD void check_member(const context* copy, team_view team, operation what) {
  const context& ctx = *copy;
  failure why = failure::none;
  if (team.my_pe() < 0)
    why = failure::not_a_member;
  else if (team.channel_ < 0 || team.channel_ > team.n_channels())
    why = failure::bad_channel;
  if (why == failure::none) return;
  report(ctx, bad_argument(why, what, ctx.world_pe_, team.state_offset_, static_cast<std::uint64_t>(team.channel_)));
  end_thread();
}

/// The first half of a barrier, for all threads of `g`. Orders earlier operations of these threads, including proxied
/// operations.
template <arrival Arrival, PGAS_IS(group) G>
PGAS_FN void arrive(const context& ctx, const G& g, const team_view& team) {
  if constexpr (Arrival == arrival::release) quiet_proxied(ctx, g, operation::barrier);
  if (may_span_domains(ctx, team)) PGAS_UNLIKELY {
    const participant here{ctx, team};
    if (arrive_by_domains<Arrival>(&here, g)) return;
  }
  g.sync();
  arrive_share<Arrival>(ctx, team, static_cast<std::int32_t>(g.thread_rank()), static_cast<std::int32_t>(g.size()));
}

/// The calling thread's share of the second half of a barrier: waits for some of the members. @return False if a wait
/// failed and the thread must end.
template <PGAS_IS(group) G>
[[nodiscard]] PGAS_FN bool await(const context& ctx, const G& g, const team_view& team, operation what) {
  if (may_span_domains(ctx, team)) PGAS_UNLIKELY {
    const participant here{ctx, team};
    const await_result by_domains = await_domains(&here, g, what);
    if (by_domains != await_result::not_hierarchical) return by_domains == await_result::complete;
  }
  return await_share<single<G>>(ctx, team, what, static_cast<std::int32_t>(g.thread_rank()),
                                static_cast<std::int32_t>(g.size()));
}

/// A barrier that ends the group if it fails, used if something must be checked or members may be proxied.
template <arrival Arrival, PGAS_IS(group) G>
PGAS_COLD void slow_path_barrier(const context* copy, G g, team_view team, operation what) {
  const context& ctx = *copy;
  if (ctx.checks()) check_member(copy, team, what);
  arrive<Arrival>(ctx, g, team);
  exit_if_any(g, !await(ctx, g, team, what));
}

/// Whether all threads of a group can poll, and leave the loop, together.
template <class G>
inline constexpr bool polls_together = single<G> || std::is_same_v<G, warp>;

/// arrive() and await() in one function, for a group with at least one thread for each other member. The function needs
/// no loop over members, and no vote, because the threads leave the polls together. @return False if members do not
/// arrive soon.
template <arrival Arrival, PGAS_IS(group) G>
[[nodiscard]] PGAS_FN bool try_barrier(const context& ctx, const G& g, const team_view& team) {
  const auto rank = static_cast<std::int32_t>(g.thread_rank());
  const bool has_member = rank < others_of(team);
  const std::int32_t other = other_member(team, has_member ? rank : 0);
  std::uint64_t* const mine = &member_state(ctx, team, team.my_pe())->arrived;
  g.sync();
  if constexpr (Arrival == arrival::release) fence_release();
  if (has_member) reduce<rmw::add>(ctx.world_remote(mine, team.world_pe(other)), std::uint64_t{1});
  member_words* const state = member_state(ctx, team, other);
  const std::uint64_t waited = load_relaxed(&state->waited);  // the latency of the load overlaps with the first poll
  PGAS_ROLLED
  for (std::uint32_t i = 0; i < polls_in_line; ++i) {
    const std::uint64_t seen = load_relaxed(&state->arrived);
    if (any(g, has_member && seen <= waited)) continue;
    if (has_member) store_relaxed(&state->waited, waited + 1);
    fence_acquire();
    g.sync();
    return true;
  }
  return false;
}

/// A barrier that ends the group if it fails. @param what the operation that failure records name
template <arrival Arrival, PGAS_IS(group) G>
PGAS_FN void barrier_or_end(const context& ctx, const G& g, const team_view& team,
                            operation what = barrier_operation<Arrival>) {
  if (ctx.flags_ != 0) PGAS_UNLIKELY
    return slow_path_barrier<Arrival>(ctx.copy_, g, team, what);
  const auto rank = static_cast<std::int32_t>(g.thread_rank());
  const auto size = static_cast<std::int32_t>(g.size());
  if constexpr (polls_together<G>) {
    if (others_of(team) <= size) {
      if (try_barrier<Arrival>(ctx, g, team)) return;
      const team_view members = team;
      return exit_if_any(g, rank < others_of(team) && !await_several(ctx.copy_, &members, what, rank, size));
    }
  }
  arrive<Arrival>(ctx, g, team);
  exit_if_any(g, !await(ctx, g, team, what));
}

/// Calls barrier_or_end() for collectives. The function is out of line, with one copy for each kind of group.
template <PGAS_IS(group) G>
PGAS_OUTLINE_IN_UNIT void collective_barrier(context ctx, G g, team_view team, operation what) {
  barrier_or_end<arrival::release>(ctx, g, team, what);
}

/// Whether a group has the same number of blocks on all members, so each block can have a barrier with the same block
/// of the other members.
template <class G>
using lockstep_members = std::void_t<decltype(some<G>().part())>;
template <class G>
inline constexpr bool has_lockstep_blocks = valid<lockstep_members, G>;

/// The sync at the start of a collective that begins without a barrier or an exchange. The sync orders the earlier
/// accesses of all threads of the group before this operation. In a collective that the host calls, the threads have no
/// earlier accesses, so there is no sync.
template <PGAS_IS(group) G>
PGAS_FN void sync_unless_lockstep(const G& g) {
  if constexpr (!has_lockstep_blocks<G>) g.sync();
}

/// The barrier of one block with the same block of the other members. (The function makes no checks, because the
/// group's barriers have been checked.)
template <PGAS_IS(group) Block>
PGAS_OUTLINE_IN_UNIT void block_barrier(context ctx, Block block, team_view team, operation what) {
  const team_view own = team.of_block(block.block_rank());
  arrive<arrival::release>(ctx, block, own);
  exit_if_any(block, !await(ctx, block, own, what));
}

/// The barrier before a collective's first access to other members' memory, or after its last access. The barrier
/// synchronizes members, not the blocks of a group. If all members have the same number of blocks, each block has its
/// own barrier.
/// *Order* as collective_barrier(), once all blocks have returned, for example at the end of a kernel.
template <PGAS_IS(group) G>
PGAS_FN void lockstep_barrier(const context& ctx, const G& g, const team_view& team, operation what) {
  if constexpr (has_lockstep_blocks<G>) {
    if (!may_span_domains(ctx, team)) return block_barrier(ctx, g.part(), team, what);
  }
  collective_barrier(ctx, g, team, what);
}

}  // namespace pgas::detail
