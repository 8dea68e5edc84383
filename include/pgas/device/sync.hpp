/// @file
/// Meeting points of the members of a team: barrier (everything before it is visible after it), the same in two halves
/// with work between them, and sync (nothing but that all came).
#pragma once

#include "pgas/device/impl/sync/barrier.hpp"

namespace pgas {

/// Returns when every PE of `team` has called it, and all that their groups put, set or stored before is visible.
///
/// *Callers* all threads of the group `g`, converged, on every PE of the team, one call at a time for each team and PE.
/// The groups may differ from PE to PE. *On return* earlier operations of the group are complete at their targets.
/// *Order* everything before the call on any PE is visible to everything after it on any PE, through whatever link.
/// *Errors* ends the group with a record naming a PE that has not come, when the world is aborted or the deadline
/// passes. Of a domain beyond load and store that is not complete it names the first member.
template <PGAS_IS(group) G>
PGAS_FN void barrier(const context& ctx, const G& g, const team_view& team) {
  detail::barrier_or_end<detail::arrival::release>(ctx, g, team);
}

/// barrier() called by one thread of each member.
PGAS_FN void barrier(const context& ctx, const team_view& team) { barrier(ctx, this_thread{}, team); }

/// barrier() of all PEs.
template <PGAS_IS(group) G>
PGAS_FN void barrier(const context& ctx, const G& g) {
  barrier(ctx, g, ctx.world());
}

/// barrier() of all PEs, called by one thread of each.
PGAS_FN void barrier(const context& ctx) { barrier(ctx, this_thread{}, ctx.world()); }

/// The first half of a barrier(): says that this PE has come, and does not wait.
///
/// *Callers* all threads of the group `g`, converged, on every member of `team`; then barrier_wait(), by any group of
/// the same PE, before any other collective of this team and channel. *Order* everything before the call, on this PE,
/// is visible to whoever returns from the barrier_wait() that goes with it; nothing is said of what comes between the
/// two.
template <PGAS_IS(group) G>
PGAS_FN void barrier_arrive(const context& ctx, const G& g, const team_view& team) {
  if (ctx.checks()) PGAS_UNLIKELY
    detail::check_member(ctx, team, detail::operation::barrier);
  detail::arrive<detail::arrival::release>(ctx, g, team);
}

/// barrier_arrive() by one thread.
PGAS_FN void barrier_arrive(const context& ctx, const team_view& team) { barrier_arrive(ctx, this_thread{}, team); }

/// The second half: returns when every member of `team` has arrived.
///
/// *Callers* all threads of the group `g`, converged, once for each barrier_arrive() of this PE; the group may be
/// another one, if the program has ordered it behind the first. *Order* everything before the barrier_arrive() of any
/// member is visible. *Errors* as for barrier().
template <PGAS_IS(group) G>
PGAS_FN void barrier_wait(const context& ctx, const G& g, const team_view& team) {
  if (ctx.checks()) PGAS_UNLIKELY
    detail::check_member(ctx, team, detail::operation::barrier);
  detail::exit_if_any(g, !detail::await(ctx, g, team, detail::operation::barrier));
}

/// barrier_wait() by one thread.
PGAS_FN void barrier_wait(const context& ctx, const team_view& team) { barrier_wait(ctx, this_thread{}, team); }

/// Returns when every PE of `team` has called it.
///
/// *Callers* as for barrier(). *On return* all have come. *Order* none for what was put, set or stored before: use it
/// where the data is known to have arrived, or was only read. *Errors* as for barrier().
template <PGAS_IS(group) G>
PGAS_FN void sync(const context& ctx, const G& g, const team_view& team) {
  detail::barrier_or_end<detail::arrival::relaxed>(ctx, g, team);
}

/// sync() called by one thread of each member.
PGAS_FN void sync(const context& ctx, const team_view& team) { sync(ctx, this_thread{}, team); }

/// sync() of all PEs.
template <PGAS_IS(group) G>
PGAS_FN void sync(const context& ctx, const G& g) {
  sync(ctx, g, ctx.world());
}

/// sync() of all PEs, called by one thread of each.
PGAS_FN void sync(const context& ctx) { sync(ctx, this_thread{}, ctx.world()); }

}  // namespace pgas
