/// @file
/// Meeting points of the PEs of a world or a domain: barrier (everything before it is visible after it) and sync
/// (nothing but that all came).
#pragma once

#include "pgas/device/impl/barrier.hpp"

namespace pgas {

/// Returns when every PE of `team` has called it, and all that their groups put, set or stored before is visible.
///
/// *Callers* all threads of the group `g`, converged, on every PE of the team, one call at a time for each team and PE.
/// The groups may differ from PE to PE. *On return* earlier operations of the group are complete at their targets.
/// *Order* everything before the call on any PE is visible to everything after it on any PE, through whatever link.
/// *Errors* ends the group with a record naming a PE that has not come, when the world is aborted or the deadline
/// passes.
template <group G>
PGAS_FN void barrier(const context& ctx, const G& g, const team_view& team) {
  detail::barrier_or_end<detail::arrival::release>(ctx, g, team);
}

/// barrier() of all PEs.
template <group G>
PGAS_FN void barrier(const context& ctx, const G& g) {
  barrier(ctx, g, ctx.world());
}

/// barrier() of all PEs, called by one thread of each.
PGAS_FN void barrier(const context& ctx) { barrier(ctx, this_thread{}, ctx.world()); }

/// Returns when every PE of `team` has called it.
///
/// *Callers* as for barrier(). *On return* all have come. *Order* none for what was put, set or stored before: use it
/// where the data is known to have arrived, or was only read. *Errors* as for barrier().
template <group G>
PGAS_FN void sync(const context& ctx, const G& g, const team_view& team) {
  detail::barrier_or_end<detail::arrival::relaxed>(ctx, g, team);
}

/// sync() of all PEs.
template <group G>
PGAS_FN void sync(const context& ctx, const G& g) {
  sync(ctx, g, ctx.world());
}

/// sync() of all PEs, called by one thread of each.
PGAS_FN void sync(const context& ctx) { sync(ctx, this_thread{}, ctx.world()); }

}  // namespace pgas
