/// @file
/// Order and completion of earlier operations. MEMORY_MODEL.md in this folder defines fence() and quiet() in terms of
/// C++ and PTX.
///
/// A form with a list of PEs orders only the operations to these PEs. If all PEs are direct, all forms cost the same,
/// because one fence orders the operations to all PEs. With proxied PEs, the forms with a list cost less. A fence() for
/// one PE submits a command to the proxy and does not wait for the command. A quiet() for named PEs waits for these PEs
/// only. A fence() for all PEs waits until every earlier command of the proxy is complete, because no later store may
/// overtake a command.
///
/// *Errors* with checks on, if a PE does not exist, all functions end the thread or the group with a record. With
/// proxied PEs, the functions also end the thread or the group if the world is aborted or the deadline passes during a
/// wait for the proxy.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/context.hpp"
#include "pgas/device/group.hpp"
#include "pgas/device/impl/proxy/proxied_operations.hpp"
#include "pgas/device/impl/sync/argument_check.hpp"

namespace pgas {
namespace detail {

/// Checks that PE `pe` exists, if checks are on.
PGAS_FN void check_pe(const context& ctx, operation what, std::int32_t pe) {
  if (ctx.checks()) PGAS_UNLIKELY
    check_here(checked_heap_of(ctx), what, reinterpret_cast<const char*>(ctx.my_slot_), 0, 1, pe);
}

PGAS_FN void check_pes(const context& ctx, const std::int32_t* pes, std::size_t n) {
  if (ctx.checks()) PGAS_UNLIKELY {
    for (std::size_t i = 0; i < n; ++i) check_pe(ctx, operation::quiet, pes[i]);
  }
}

/// If PE `pe` is proxied, calls `f` with the PE's number in the world.
template <class F>
PGAS_FN void if_proxied(const context& ctx, std::int32_t pe, const F& f) {
  if (ctx.has_proxied()) PGAS_UNLIKELY {
    const std::int32_t target_pe = ctx.team().world_pe(pe);
    if (!ctx.is_direct(target_pe)) f(target_pe);
  }
}

/// For each proxied PE in `pes`, calls `f` with the PE's number in the world.
template <class F>
PGAS_FN void for_each_proxied(const context& ctx, const std::int32_t* pes, std::size_t n, const F& f) {
  if (ctx.has_proxied()) PGAS_UNLIKELY {
    for (std::size_t i = 0; i < n; ++i) if_proxied(ctx, pes[i], f);
  }
}

/// Runs `fence` for all threads of a group. On a GPU, the threads of the first warp execute the fence: a MEMBAR
/// instruction costs the same for a whole warp as for one thread.
template <PGAS_IS(group) G, class Fence>
PGAS_FN void fence_for_all(const G& g, const Fence& fence) {
  g.sync();
  if (g.thread_rank() < threads_that_fence) fence();
  g.sync();
}

}  // namespace detail

/// @brief Orders earlier puts, atomics and signals before later operations, to each PE and across PEs.
///
/// *Callers* any thread. *On return* the operations have not necessarily arrived.
/// *Order* if a wait, a test or signal_fetch of a thread sees a later p, atomic or signal of this thread, that thread
/// also sees the earlier operations. The fence is a release: a release also orders earlier reads, but not later reads.
PGAS_FN void fence(const context& ctx) {
  detail::quiet_proxied(ctx, detail::operation::fence);
  detail::fence_release();
}

/// @brief Like fence(), for operations to PE `pe` alone.
///
/// *Callers* any thread.
PGAS_FN void fence(const context& ctx, pe_or_peer pe) {
  detail::check_pe(ctx, detail::operation::fence, pe.pe());
  detail::if_proxied(ctx, pe.pe(),
                     [&](std::int32_t proxied_pe) { detail::proxied_fence(detail::proxy_queue_of(ctx), proxied_pe); });
  detail::fence_release();
}

/// @brief Like fence(), for the operations of all threads of a group.
///
/// *Callers* all threads of the group `g`, converged.
/// *Order* as fence(), for later operations of any thread of the group.
template <PGAS_IS(group) G>
PGAS_FN detail::if_group<G> fence(const context& ctx, const G& g) {
  detail::quiet_proxied(ctx, g, detail::operation::fence);
  detail::fence_for_all(g, [] { detail::fence_release(); });
}

/// @brief Like fence(), for the operations of all threads of a group to PE `pe`.
///
/// *Callers* all threads of the group `g`, converged.
template <PGAS_IS(group) G>
PGAS_FN detail::if_group<G> fence(const context& ctx, const G& g, pe_or_peer pe) {
  detail::check_pe(ctx, detail::operation::fence, pe.pe());
  detail::if_proxied(ctx, pe.pe(), [&](std::int32_t proxied_pe) {
    g.sync();
    if (g.thread_rank() == 0) detail::proxied_fence(detail::proxy_queue_of(ctx), proxied_pe);
  });
  detail::fence_for_all(g, [] { detail::fence_release(); });
}

/// @brief Completes earlier operations: on return these operations have taken effect at their targets.
///
/// *Callers* any thread.
/// *On return* earlier puts, p, atomics and signals of this thread are visible to all PEs, and results of earlier
/// non-blocking operations are available. Later reads of this thread, including gets, come after the operations that
/// quiet() completes.
PGAS_FN void quiet(const context& ctx) {
  detail::quiet_proxied(ctx, detail::operation::quiet);
  detail::fence_sc();
}

/// @brief Like quiet(), for operations to PE `pe` alone.
///
/// *Callers* any thread.
PGAS_FN void quiet(const context& ctx, pe_or_peer pe) {
  detail::check_pe(ctx, detail::operation::quiet, pe.pe());
  detail::if_proxied(ctx, pe.pe(), [&](std::int32_t proxied_pe) {
    detail::drain_or_end(detail::proxy_queue_of(ctx), detail::operation::quiet, proxied_pe);
  });
  detail::fence_sc();
}

/// @brief Like quiet(), for operations to the `n` PEs listed in `pes`.
///
/// *Callers* any thread. *Memory* `pes` is any memory of this PE. *On return* nothing is guaranteed if `n` is 0.
PGAS_FN void quiet(const context& ctx, const std::int32_t* pes, std::size_t n) {
  detail::check_pes(ctx, pes, n);
  detail::for_each_proxied(ctx, pes, n, [&](std::int32_t proxied_pe) {
    detail::drain_or_end(detail::proxy_queue_of(ctx), detail::operation::quiet, proxied_pe);
  });
  if (n != 0) detail::fence_sc();
}

/// @brief Like quiet(), for the operations of all threads of a group.
///
/// *Callers* all threads of the group `g`, converged. *On return* as quiet(), for all threads of the group.
template <PGAS_IS(group) G>
PGAS_FN detail::if_group<G> quiet(const context& ctx, const G& g) {
  detail::quiet_proxied(ctx, g, detail::operation::quiet);
  detail::fence_for_all(g, [] { detail::fence_sc(); });
}

/// @brief Like quiet(), for the operations of all threads of a group to PE `pe`.
///
/// *Callers* all threads of the group `g`, converged.
template <PGAS_IS(group) G>
PGAS_FN detail::if_group<G> quiet(const context& ctx, const G& g, pe_or_peer pe) {
  detail::check_pe(ctx, detail::operation::quiet, pe.pe());
  detail::if_proxied(ctx, pe.pe(), [&](std::int32_t proxied_pe) {
    detail::drain_by_leader(detail::proxy_queue_of(ctx), g, detail::operation::quiet, proxied_pe);
  });
  detail::fence_for_all(g, [] { detail::fence_sc(); });
}

/// @brief Like quiet(), for the operations of all threads of a group to the `n` PEs listed in `pes`.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments.
template <PGAS_IS(group) G>
PGAS_FN detail::if_group<G> quiet(const context& ctx, const G& g, const std::int32_t* pes, std::size_t n) {
  detail::check_pes(ctx, pes, n);
  detail::for_each_proxied(ctx, pes, n, [&](std::int32_t proxied_pe) {
    detail::drain_by_leader(detail::proxy_queue_of(ctx), g, detail::operation::quiet, proxied_pe);
  });
  detail::fence_for_all(g, [&] {
    if (n != 0) detail::fence_sc();
  });
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
