/// @file
/// Order and completion of what was sent before. README.md beside this file says what they mean in C++ and PTX terms.
#pragma once

#include "pgas/detail/ptx.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/group.hpp"

namespace pgas {

/// Orders earlier puts, atomics and signals before later ones, to each PE and across PEs.
///
/// *Callers* any thread. *On return* nothing need have arrived yet as far as this thread can tell. *Order* whoever sees
/// a later p, atomic or signal of this thread through a wait, a test or signal_fetch sees the earlier operations too.
/// It is a release: earlier reads are ordered as well, later reads are not.
PGAS_FN void fence([[maybe_unused]] const context& ctx) { detail::fence_release(); }

/// fence() for what all threads of a group have sent.
///
/// *Callers* all threads of the group `g`, converged. *Order* as above, for later operations of any thread of the
/// group.
template <group G>
PGAS_FN void fence([[maybe_unused]] const context& ctx, const G& g) {
  g.sync();
  if (g.thread_rank() < 32) detail::fence_release();  // one MEMBAR, the same as for one thread
  g.sync();
}

/// Completes earlier operations: they have taken effect at their targets when it returns.
///
/// *Callers* any thread. *On return* earlier puts, p, atomics and signals of this thread are visible to all PEs, and
/// later reads of this thread, gets included, come after them.
PGAS_FN void quiet([[maybe_unused]] const context& ctx) { detail::fence_sc(); }

/// quiet() for what all threads of a group have sent.
///
/// *Callers* all threads of the group `g`, converged. *On return* as above, for all threads of the group.
template <group G>
PGAS_FN void quiet([[maybe_unused]] const context& ctx, const G& g) {
  g.sync();
  if (g.thread_rank() < 32) detail::fence_sc();
  g.sync();
}

}  // namespace pgas
