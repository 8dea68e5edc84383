/// @file
/// Locks that one PE of a team holds at a time. A lock is a 64-bit word in the symmetric heap, initially zero, and
/// needs no other memory. The locks behave as OpenSHMEM's locks do. PEs take a lock in the order of their requests.
///
/// A lock is held by a PE, not by a thread. If several threads of a PE request a lock, one of these threads at a time
/// holds or awaits the lock, in no particular order. Therefore, two threads of one PE never hold a lock at the same
/// time. All users of a lock use contexts of the same team. No other code may write the word while the lock is in use.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/impl/sync/argument_check.hpp"
#include "pgas/device/impl/sync/mcs_lock.hpp"

namespace pgas {

/// @brief The type of a lock in the symmetric heap.
using lock_t = std::uint64_t;

/// @brief Waits for the lock and acquires it.
///
/// *Callers* any thread, but at most one thread of a warp at a time. *Memory* `lock` is symmetric.
/// *On return* this PE holds the lock.
/// *Order* acquires: all accesses that earlier holders made before their clear_lock(), including puts to any PE, are
/// visible.
/// *Errors* ends the thread with a record (operation::lock) when the world is aborted or the deadline passes. The
/// record names the predecessor in the queue, or this PE if another thread of this PE holds the lock.
PGAS_FN void set_lock(const context& ctx, lock_t* lock) {
  detail::check(ctx, detail::operation::lock, lock, ctx.my_pe());
  detail::lock_or_end(ctx, lock, detail::lock_set(detail::device_lock_words(ctx, lock)));
}

/// @brief Calls set_lock() in one thread of a group, for all threads of the group.
///
/// *Callers* all threads of the group `g`, converged.
template <PGAS_IS(group) G>
PGAS_FN void set_lock(const context& ctx, const G& g, lock_t* lock) {
  detail::check(ctx, detail::operation::lock, lock, ctx.my_pe());
  bool mine = false;
  if (g.thread_rank() == 0) mine = detail::lock_set(detail::device_lock_words(ctx, lock)) == detail::lock_result::done;
  detail::exit_unless_leader(g, mine);
}

/// @brief Takes the lock if it is free.
///
/// *Callers* any thread. *Memory* `lock` is symmetric. *Order* acquires if the result is true.
///
/// @return Whether this PE now holds the lock.
[[nodiscard]] PGAS_FN bool test_lock(const context& ctx, lock_t* lock) {
  detail::check(ctx, detail::operation::lock, lock, ctx.my_pe());
  return detail::lock_test(detail::device_lock_words(ctx, lock)) == detail::lock_result::done;
}

/// @brief Calls test_lock() in one thread of a group, for all threads of the group.
///
/// *Callers* all threads of the group `g`, converged.
///
/// @return The same result on all threads.
template <PGAS_IS(group) G>
[[nodiscard]] PGAS_FN bool test_lock(const context& ctx, const G& g, lock_t* lock) {
  detail::check(ctx, detail::operation::lock, lock, ctx.my_pe());  // all threads check: a failure ends all threads
  return detail::any(g, g.thread_rank() == 0 && test_lock(ctx, lock));
}

/// @brief Passes the lock to the PE that has waited longest, or frees the lock if no PE waits.
///
/// *Callers* any thread of the PE that holds the lock. *Memory* `lock` is symmetric.
/// *Order* releases: all earlier accesses of this thread, including puts to any PE, are visible to the next holder.
/// *Errors* ends the thread with a record if this PE does not hold the lock.
PGAS_FN void clear_lock(const context& ctx, lock_t* lock) {
  detail::check(ctx, detail::operation::lock, lock, ctx.my_pe());
  detail::lock_or_end(ctx, lock, detail::lock_clear(detail::device_lock_words(ctx, lock)));
}

/// @brief Calls clear_lock() in one thread of a group, after a sync of the group.
///
/// *Callers* all threads of the group `g`, converged. *Order* releases the earlier accesses of all threads of the
/// group.
template <PGAS_IS(group) G>
PGAS_FN void clear_lock(const context& ctx, const G& g, lock_t* lock) {
  detail::check(ctx, detail::operation::lock, lock, ctx.my_pe());
  g.sync();
  if (g.thread_rank() == 0) clear_lock(ctx, lock);
  g.sync();
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
