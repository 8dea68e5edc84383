/// @file
/// A barrier that says whether it was completed, where the library's own ends the threads.
#pragma once

#include "pgas/device/impl/sync/barrier.hpp"

namespace pgas_test {

/// *Callers* all threads of `g`, on every member of `team`. *On return* true on all threads if all members arrived;
/// false on all if the world was aborted or the deadline passed, and the record names a missing one.
template <pgas::detail::arrival Arrival, PGAS_IS(pgas::group) G>
[[nodiscard]] PGAS_FN bool try_barrier(const pgas::context& ctx, const G& g, const pgas::team_view& team) {
  using namespace pgas::detail;
  arrive<Arrival>(ctx, g, team);
  return !any(g, !await(ctx, g, team, barrier_operation<Arrival>));
}

}  // namespace pgas_test
