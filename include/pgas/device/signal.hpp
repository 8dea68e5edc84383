/// @file
/// Data followed by a signal, and signals alone. A signal is a 64-bit word in the symmetric heap. A wait for a signal
/// also sees the data that was sent with the signal. The waits and tests of `wait.hpp` (included here) accept signals.
///
/// A signal can count arrivals if senders add to the word. signal_take() waits for n arrivals and subtracts n. After
/// signal_take(), the word is ready for the next round. A reset of the word would race with an early sender.
///
/// *Errors* of all functions: as in `rma.hpp`.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/isa/ptx_atomic.hpp"
#include "pgas/device/impl/copy/coalesced_copy.hpp"
#include "pgas/device/impl/proxy/proxied_operations.hpp"
#include "pgas/device/impl/sync/argument_check.hpp"
#include "pgas/device/wait.hpp"
#include "pgas/signal_types.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {
namespace detail {

/// Updates the signal word after all earlier accesses. Senders may mix sets and additions on one word.
PGAS_FN void signal_release(signal_t* sig, signal_t value, signal_op op) {
  if (op == signal_op::add) {
    reduce_add_release(sig, value);
  } else {
    store_release(sig, value);
  }
}

[[nodiscard]] PGAS_FN traced_update traced_as(signal_op op) {
  return op == signal_op::add ? traced_update::add : traced_update::set;
}

/// Returns the address of `word` on a PE, if `remote` is the address of `known` on that PE.
template <class T>
[[nodiscard]] PGAS_FN signal_t* as_far(signal_t* word, const T* known, const T* remote) {
  return reinterpret_cast<signal_t*>(reinterpret_cast<std::uintptr_t>(word) + reinterpret_cast<std::uintptr_t>(remote) -
                                     reinterpret_cast<std::uintptr_t>(known));
}

/// The common implementation of all put_signal() functions. @param copy_to stores the data at a load/store accessible
/// address
template <completion When, class T, PGAS_IS(group) G, class Copy>
PGAS_FN void put_signal_by_route(const context& ctx, const G& g, T* dst, const T* src, std::size_t count, signal_t* sig,
                                 signal_t value, signal_op op, pe_or_peer pe, Copy copy_to) {
  traced_operation traced(ctx, g, operation::put_signal);
  traced.on(ctx, pe, count * sizeof(T));
  traced.updates(ctx, sig, value, traced_as(op));
  g.sync();  // after this sync, the operation follows the earlier accesses of all threads of the group
  ctx.by_long_route(
      dst, pe,
      [=](const context& here, T* remote) {
        copy_to(remote);
        g.sync();
        if (here.has_proxied()) PGAS_UNLIKELY
          drain_by_leader(proxy_queue_of(here), g, operation::put_signal, -1);
        if (g.thread_rank() == 0) signal_release(as_far(sig, dst, remote), value, op);
      },
      [=, number = pe.pe()](const context& here, auto what) {
        if constexpr (std::is_same_v<decltype(what), checked_arguments>) {
          check(here, operation::put_signal, dst, count, number);
          check(here, operation::put_signal, sig, 1, number);
          check_sound(here, operation::put_signal, sig, known(op));
        } else if constexpr (std::is_same_v<decltype(what), std::int32_t>) {
          const proxied_copy data{proxy_queue_of(here), what, dst, src, count * sizeof(T), When};
          const trailing_signal after{sig, value, op};
          proxied_put_signal(&data, &after, g);
        }
      });
}

/// Waits until `*sig >= n` and subtracts n. Stores the remainder in `left`; acquires. @return False if the wait failed.
[[nodiscard]] PGAS_FN bool take_count(const context& ctx, signal_t* sig, signal_t n, signal_t& left) {
  traced_operation traced(ctx, this_thread{}, operation::wait);
  signal_t seen = 0;
  const auto keep = [&](signal_t word) {
    seen = word;
    return true;
  };
  for (;;) {
    if (!poll_word(ctx, sig, cmp::ge, n, keep, [] { return false; })) return false;
    // Uses a compare-exchange instead of a subtraction, because another thread may have subtracted since the poll. A
    // compare-exchange is a read-modify-write, so it does not break the release sequences of additions.
    const signal_t found = compare_exchange(sig, seen, seen - n);
    if (found == seen) break;
  }
  fence_acquire();
  traced.took(ctx, sig, n, seen);
  left = seen - n;
  return true;
}

/// Returns one thread's result on all threads of a group; ends the group if there is no result. @param find fills its
/// argument, or returns false after writing the record
template <PGAS_IS(group) G, class Find>
[[nodiscard]] PGAS_FN signal_t seen_by_all(const G& g, const Find& find) {
  struct outcome {
    signal_t value;
    signal_t lost;
  };
  outcome mine{0, 0};
  if (g.thread_rank() == 0) mine.lost = find(mine.value) ? 0 : 1;
  const outcome all = broadcast(g, mine);
  if (all.lost != 0) PGAS_UNLIKELY
    end_thread();
  return all.value;
}

}  // namespace detail

/// @brief Copies `count` elements to PE `pe`, then sets that PE's signal word to `value` or adds `value` to the word.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments. *Units* `count` is a number of elements;
/// 0 is allowed.
/// *Memory* `dst` and `sig` are symmetric; `src` is any memory of this PE. *On return* `src` may be reused.
/// *Order* a thread that sees the signal also sees the data and all earlier puts and stores of the group's threads, to
/// any memory and by any route. The caller need not sync the group before the call. Of this PE's earlier signals to
/// proxied PEs, a thread that sees the signal sees only the signals to PE `pe`.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void put_signal(const context& ctx, const G& g, T* dst, const T* src, std::size_t count, signal_t* sig,
                        signal_t value, signal_op op, pe_or_peer pe) {
  detail::put_signal_by_route<detail::completion::local_done>(
      ctx, g, dst, src, count, sig, value, op, pe,
      [=](T* remote) { detail::copy_by<detail::direction::put>(g, remote, src, count); });
}

/// @brief Like put_signal(), but may return before it has read `src`: if PE `pe` is proxied, `src` must not change
/// before quiet().
///
/// If PE `pe` is direct, the group waits for its own reads before it signals, so the function equals put_signal().
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void put_signal_nbi(const context& ctx, const G& g, T* dst, const T* src, std::size_t count, signal_t* sig,
                            signal_t value, signal_op op, pe_or_peer pe) {
  detail::put_signal_by_route<detail::completion::submitted>(
      ctx, g, dst, src, count, sig, value, op, pe,
      [=](T* remote) { detail::copy_by<detail::direction::put>(g, remote, src, count); });
}

/// @brief Like put_signal(), for one thread instead of a group.
template <PGAS_IS(rma_type) T>
PGAS_FN void put_signal(const context& ctx, T* dst, const T* src, std::size_t count, signal_t* sig, signal_t value,
                        signal_op op, pe_or_peer pe) {
  put_signal(ctx, this_thread{}, dst, src, count, sig, value, op, pe);
}

/// @brief Like put_signal_nbi(), for one thread instead of a group.
template <PGAS_IS(rma_type) T>
PGAS_FN void put_signal_nbi(const context& ctx, T* dst, const T* src, std::size_t count, signal_t* sig, signal_t value,
                            signal_op op, pe_or_peer pe) {
  put_signal_nbi(ctx, this_thread{}, dst, src, count, sig, value, op, pe);
}

/// @brief Sets PE `pe`'s signal word.
///
/// *Callers* any thread. *Memory* `sig` is symmetric. *On return* the operation is issued; quiet() completes it.
/// *Order* none. To signal that data has arrived, call fence() before signal_set(), or use put_signal().
PGAS_FN void signal_set(const context& ctx, signal_t* sig, signal_t value, pe_or_peer pe) {
  detail::traced_operation traced(ctx, this_thread{}, detail::operation::signal);
  traced.on(ctx, pe);
  traced.updates(ctx, sig, value, detail::traced_update::set);
  ctx.by_route(
      sig, pe,
      [](const context& here, signal_t* word, std::int32_t number) {
        detail::check(here, detail::operation::signal, word, number);
      },
      [=](const context&, signal_t* remote) { detail::store_relaxed(remote, value); },
      [=](const context& here, signal_t* word, std::int32_t proxied_pe) {
        detail::proxied_update(detail::proxy_queue_of(here), {detail::operation::signal, proxied_pe, here.offset(word)},
                               detail::atomic_update::set, detail::datatype::u64, value);
      });
}

/// @brief Calls signal_set() once for a group, after a sync of the group.
///
/// *Callers* all threads of the group `g`, converged.
template <PGAS_IS(group) G>
PGAS_FN void signal_set(const context& ctx, const G& g, signal_t* sig, signal_t value, pe_or_peer pe) {
  detail::check(ctx, detail::operation::signal, sig, pe.pe());  // all threads check, because a failure ends all threads
  g.sync();
  if (g.thread_rank() == 0) signal_set(ctx, sig, value, pe);
}

/// @brief Adds to PE `pe`'s signal word.
///
/// *Callers* any thread. *Memory* `sig` is symmetric. *On return* the operation is issued; quiet() completes it.
/// *Order* as signal_set().
PGAS_FN void signal_add(const context& ctx, signal_t* sig, signal_t value, pe_or_peer pe) {
  detail::traced_operation traced(ctx, this_thread{}, detail::operation::signal);
  traced.on(ctx, pe);
  traced.updates(ctx, sig, value, detail::traced_update::add);
  ctx.by_route(
      sig, pe,
      [](const context& here, signal_t* word, std::int32_t number) {
        detail::check(here, detail::operation::signal, word, number);
      },
      [=](const context&, signal_t* remote) { detail::reduce<detail::rmw::add>(remote, value); },
      [=](const context& here, signal_t* word, std::int32_t proxied_pe) {
        detail::proxied_update(detail::proxy_queue_of(here), {detail::operation::signal, proxied_pe, here.offset(word)},
                               detail::atomic_update::add, detail::datatype::u64, value);
      });
}

/// @brief Calls signal_add() once for a group, after a sync of the group.
///
/// *Callers* all threads of the group `g`, converged.
template <PGAS_IS(group) G>
PGAS_FN void signal_add(const context& ctx, const G& g, signal_t* sig, signal_t value, pe_or_peer pe) {
  detail::check(ctx, detail::operation::signal, sig, pe.pe());
  g.sync();
  if (g.thread_rank() == 0) signal_add(ctx, sig, value, pe);
}

/// @brief Reads this PE's own signal word.
///
/// *Callers* any thread. *Memory* `sig` is symmetric.
/// *Order* acquires: all data that was sent before the value is visible to this thread.
///
/// @return The value.
[[nodiscard]] PGAS_FN signal_t signal_fetch(const context& ctx, const signal_t* sig) {
  detail::check(ctx, detail::operation::signal, sig, ctx.my_pe());
  const signal_t seen = detail::load_relaxed(sig);
  detail::fence_acquire();
  return seen;
}

/// @brief Like signal_fetch(), for a group.
///
/// *Callers* all threads of the group `g`, converged.
///
/// @return The same value on all threads.
template <PGAS_IS(group) G>
[[nodiscard]] PGAS_FN signal_t signal_fetch(const context& ctx, const G& g, const signal_t* sig) {
  detail::check(ctx, detail::operation::signal, sig, ctx.my_pe());
  return detail::broadcast(g, g.thread_rank() == 0 ? signal_fetch(ctx, sig) : signal_t{0});
}

/// @brief Waits until `*sig op value`.
///
/// *Callers* any thread. *Memory* `sig` is symmetric: this PE's own word. *Order* acquires. *Errors* as wait_until().
///
/// @return The value that satisfied the comparison.
PGAS_FN signal_t signal_wait_until(const context& ctx, const signal_t* sig, cmp op, signal_t value) {
  return wait_until(ctx, sig, op, value);
}

/// @brief Like signal_wait_until(), for a group: one thread polls for all.
///
/// *Callers* all threads of the group `g`, converged.
///
/// @return The same value on all threads.
template <PGAS_IS(group) G>
PGAS_FN signal_t signal_wait_until(const context& ctx, const G& g, const signal_t* sig, cmp op, signal_t value) {
  detail::check(ctx, detail::operation::wait, sig, ctx.my_pe());
  detail::check_sound(ctx, detail::operation::wait, sig, detail::known(op));
  return detail::seen_by_all(g, [&](signal_t& seen) { return detail::wait_word(ctx, sig, op, value, seen); });
}

/// @brief Waits until this PE's own signal word counts `n` arrivals, and subtracts `n`.
///
/// *Callers* any thread; several threads may take from one word while other threads add to the word.
/// *Units* `n` is a sum of values. put_signal() with signal_op::add, signal_add() and atomic operations add values to
/// the word.
/// *Memory* `sig` is symmetric. *Order* acquires from all additions that the found value contains, including additions
/// that remain in the word.
/// *Errors* as wait_until().
///
/// @return The remainder.
PGAS_FN signal_t signal_take(const context& ctx, signal_t* sig, signal_t n) {
  detail::check(ctx, detail::operation::wait, sig, ctx.my_pe());
  signal_t left = 0;
  if (!detail::take_count(ctx, sig, n, left)) PGAS_UNLIKELY
    detail::end_thread();
  return left;
}

/// @brief Calls signal_take() once for a group.
///
/// *Callers* all threads of the group `g`, converged.
///
/// @return The same value on all threads.
template <PGAS_IS(group) G>
PGAS_FN signal_t signal_take(const context& ctx, const G& g, signal_t* sig, signal_t n) {
  detail::check(ctx, detail::operation::wait, sig, ctx.my_pe());
  return detail::seen_by_all(g, [&](signal_t& left) { return detail::take_count(ctx, sig, n, left); });
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
