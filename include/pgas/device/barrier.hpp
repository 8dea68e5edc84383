/// @file
/// Synchronization of a team's members. barrier() makes earlier accesses visible; barrier_arrive() and barrier_wait()
/// are the two halves of a barrier(), so that a program can do other work between the halves. sync() does not order
/// memory.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/direct_context.hpp"
#include "pgas/device/impl/sync/barrier.hpp"
#include "pgas/device/impl/trace/traced_operation.hpp"

namespace pgas {

/// @brief Returns when every PE of `team` has called barrier() and all earlier puts, sets and stores of the calling
/// groups are visible.
///
/// *Callers* all threads of the group `g`, converged, on every PE of the team, one call at a time for each team and PE.
/// The groups may differ from PE to PE.
/// *On return* earlier operations of the group are complete at their targets.
/// *Order* accesses before the call on any PE, by any route, are visible to all accesses after the call on any PE.
/// *Errors* when the world is aborted or the deadline passes, ends the group with a record that names a missing PE. If
/// another domain is incomplete, the record names the first member of that domain. In a team of more than 16 domains,
/// the record names the first member of the domain whose message is missing; that domain can itself be waiting for
/// another domain.
template <PGAS_IS(group) G>
PGAS_FN void barrier(const context& ctx, const G& g, const team_view& team) {
  detail::traced_operation traced(ctx, g, detail::operation::barrier);
  detail::barrier_or_end<detail::arrival::release>(ctx, g, team);
}

/// @brief Like barrier(), called by one thread of each member.
PGAS_FN void barrier(const context& ctx, const team_view& team) { barrier(ctx, this_thread{}, team); }

/// @brief Like barrier(), for all PEs.
template <PGAS_IS(group) G>
PGAS_FN void barrier(const context& ctx, const G& g) {
  barrier(ctx, g, ctx.world());
}

/// @brief Like barrier(), for all PEs, called by one thread of each PE.
PGAS_FN void barrier(const context& ctx) { barrier(ctx, this_thread{}, ctx.world()); }

/// @brief Like barrier(), for the members of the context's team.
template <PGAS_IS(group) G>
PGAS_FN detail::if_group<G> barrier(const direct_context& ctx, const G& g) {
  barrier(ctx, g, ctx.team());
}

/// @brief Like barrier(), for the members of the context's team, called by one thread of each member.
PGAS_FN void barrier(const direct_context& ctx) { barrier(ctx, this_thread{}, ctx.team()); }

/// @brief The first half of a barrier(): arrives and does not wait.
///
/// *Callers* all threads of the group `g`, converged, on every member of `team`. After barrier_arrive(), the same or
/// another group of this PE must call barrier_wait() before this PE calls another collective of this team and channel.
/// *Order* accesses before the call on this PE are visible after the matching barrier_wait() of any member. Operations
/// between barrier_arrive() and barrier_wait() are not ordered.
template <PGAS_IS(group) G>
PGAS_FN void barrier_arrive(const context& ctx, const G& g, const team_view& team) {
  if (ctx.checks()) PGAS_UNLIKELY
    detail::check_member(ctx.copy_, team, detail::operation::barrier);
  detail::arrive<detail::arrival::release>(ctx, g, team);
}

/// @brief Like barrier_arrive(), called by one thread.
PGAS_FN void barrier_arrive(const context& ctx, const team_view& team) { barrier_arrive(ctx, this_thread{}, team); }

/// @brief The second half of a barrier(): returns when every member of `team` has arrived.
///
/// *Callers* all threads of the group `g`, converged, once for each barrier_arrive() of this PE. The group may differ
/// from the group that arrived if the program orders barrier_arrive() before barrier_wait().
/// *Order* all accesses before the barrier_arrive() of any member are visible after the call. *Errors* as for
/// barrier().
///
/// @note In a team that spans more than 16 domains, barrier_wait() can also wait until a member of every other domain
/// has called barrier_wait(). A program must not make a barrier_wait() depend on the barrier_wait() of another member.
template <PGAS_IS(group) G>
PGAS_FN void barrier_wait(const context& ctx, const G& g, const team_view& team) {
  if (ctx.checks()) PGAS_UNLIKELY
    detail::check_member(ctx.copy_, team, detail::operation::barrier);
  detail::traced_operation traced(ctx, g, detail::operation::barrier);
  detail::exit_if_any(g, !detail::await(ctx, g, team, detail::operation::barrier));
}

/// @brief Like barrier_wait(), called by one thread.
PGAS_FN void barrier_wait(const context& ctx, const team_view& team) { barrier_wait(ctx, this_thread{}, team); }

/// @brief Returns when every PE of `team` has called sync().
///
/// *Callers* as for barrier(). *On return* all members have arrived.
/// *Order* sync() does not order earlier puts, sets and stores. Use sync() if the data has already arrived or was only
/// read.
/// *Errors* as for barrier().
template <PGAS_IS(group) G>
PGAS_FN void sync(const context& ctx, const G& g, const team_view& team) {
  detail::traced_operation traced(ctx, g, detail::operation::sync);
  detail::barrier_or_end<detail::arrival::relaxed>(ctx, g, team);
}

/// @brief Like sync(), called by one thread of each member.
PGAS_FN void sync(const context& ctx, const team_view& team) { sync(ctx, this_thread{}, team); }

/// @brief Like sync(), for all PEs.
template <PGAS_IS(group) G>
PGAS_FN void sync(const context& ctx, const G& g) {
  sync(ctx, g, ctx.world());
}

/// @brief Like sync(), for all PEs, called by one thread of each PE.
PGAS_FN void sync(const context& ctx) { sync(ctx, this_thread{}, ctx.world()); }

/// @brief Like sync(), for the members of the context's team.
template <PGAS_IS(group) G>
PGAS_FN detail::if_group<G> sync(const direct_context& ctx, const G& g) {
  sync(ctx, g, ctx.team());
}

/// @brief Like sync(), for the members of the context's team, called by one thread of each member.
PGAS_FN void sync(const direct_context& ctx) { sync(ctx, this_thread{}, ctx.team()); }

}  // namespace pgas

#include "pgas/detail/names_end.inc"
