/// @file
/// Data with a signal behind it, and signals alone. A signal is a 64-bit word in the symmetric heap; whoever waits for it
/// (`wait.hpp`, included here) sees the data it was sent with.
#pragma once

#include "pgas/detail/ptx_atomic.hpp"
#include "pgas/device/impl/together.hpp"
#include "pgas/device/wait.hpp"

namespace pgas {
namespace detail {

/// Updates the signal word after everything before; sets and adds to one word may be mixed.
PGAS_FN void signal_release(signal_t* sig, signal_t value, signal_op op) {
  if (op == signal_op::add) {
    reduce_add_release(sig, value);
  } else {
    store_release(sig, value);
  }
}

}  // namespace detail

/// Copies `count` elements to PE `pe`, then sets the signal word there to `value` or adds to it.
///
/// *Callers* all threads of the group `g`, converged, same arguments. *Units* `count` is elements, 0 allowed. *Memory*
/// `dst` and `sig` are symmetric; `src` is any memory of this PE. *On return* `src` may be reused. *Order* whoever sees
/// the signal sees the data, and all that the group sent or stored before the call.
template <rma_type T, group G>
PGAS_FN void put_signal(const context& ctx, const G& g, T* dst, const T* src, std::size_t count, signal_t* sig,
                        signal_t value, signal_op op, std::int32_t pe) {
  detail::check(ctx, detail::operation::put_signal, dst, count, pe);
  detail::check(ctx, detail::operation::put_signal, sig, 1, pe);
  detail::copy_by<detail::direction::put>(g, ctx.remote(dst, pe), src, count);
  g.sync();
  if (g.thread_rank() == 0) detail::signal_release(ctx.remote(sig, pe), value, op);
}

/// put_signal() that need not have read `src` when it returns. The group waits for its own reads before it signals, so
/// today it is the same; a route with a proxy behind it may make use of the freedom.
template <rma_type T, group G>
PGAS_FN void put_signal_nbi(const context& ctx, const G& g, T* dst, const T* src, std::size_t count, signal_t* sig,
                            signal_t value, signal_op op, std::int32_t pe) {
  put_signal(ctx, g, dst, src, count, sig, value, op, pe);
}

/// put_signal() by the calling thread alone.
template <rma_type T>
PGAS_FN void put_signal(const context& ctx, T* dst, const T* src, std::size_t count, signal_t* sig, signal_t value,
                        signal_op op, std::int32_t pe) {
  put_signal(ctx, this_thread{}, dst, src, count, sig, value, op, pe);
}

/// put_signal_nbi() by the calling thread alone.
template <rma_type T>
PGAS_FN void put_signal_nbi(const context& ctx, T* dst, const T* src, std::size_t count, signal_t* sig, signal_t value,
                            signal_op op, std::int32_t pe) {
  put_signal(ctx, this_thread{}, dst, src, count, sig, value, op, pe);
}

/// Sets PE `pe`'s signal word.
/// *Callers* any thread. *Memory* `sig` is symmetric. *On return* issued; quiet() completes it. *Order* none: use
/// fence() before it, or put_signal(), to send word of data.
PGAS_FN void signal_set(const context& ctx, signal_t* sig, signal_t value, std::int32_t pe) {
  detail::check(ctx, detail::operation::signal, sig, 1, pe);
  detail::store_relaxed(ctx.remote(sig, pe), value);
}

/// Adds to PE `pe`'s signal word.
/// *Callers* any thread. *Memory* `sig` is symmetric. *On return* issued; quiet() completes it. *Order* as
/// signal_set().
PGAS_FN void signal_add(const context& ctx, signal_t* sig, signal_t value, std::int32_t pe) {
  detail::check(ctx, detail::operation::signal, sig, 1, pe);
  detail::reduce<detail::rmw::add>(ctx.remote(sig, pe), value);
}

/// Reads this PE's own signal word.
/// *Callers* any thread. *Memory* `sig` is symmetric. *On return* the value. *Order* acquires: what was sent before the
/// value that it returns is visible to this thread.
[[nodiscard]] PGAS_FN signal_t signal_fetch(const context& ctx, const signal_t* sig) {
  detail::check(ctx, detail::operation::signal, sig, 1, ctx.my_pe());
  const signal_t seen = detail::load_relaxed(sig);
  detail::fence_acquire();
  return seen;
}

}  // namespace pgas
