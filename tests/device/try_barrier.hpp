/// @file
/// A barrier that returns whether it was completed. The library's own barrier ends the threads on failure.
#pragma once

#include "pgas/device/impl/sync/barrier.hpp"

namespace pgas_test {

/// *Callers* all threads of `g`, on every member of `team`. *On return* true on all threads if all members arrived;
/// false on all threads if the world was aborted or the deadline passed, and the record contains a missing member.
template <pgas::detail::arrival Arrival, PGAS_IS(pgas::group) G>
[[nodiscard]] PGAS_FN bool try_barrier(const pgas::context& ctx, const G& g, const pgas::team_view& team) {
  using namespace pgas::detail;
  arrive<Arrival>(ctx, g, team);
  return !any(g, !await(ctx, g, team, barrier_operation<Arrival>));
}

}  // namespace pgas_test
