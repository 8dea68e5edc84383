/// @file
/// Locks that one PE of a team holds at a time. A lock is a 64-bit word in the symmetric heap, zero when made; it needs
/// nothing else. OpenSHMEM's locks, and fair: first come, first served.
///
/// Holders are PEs: of several threads of one PE that want a lock, one holds or awaits it at a time (in no given
/// order), so a lock also excludes threads of one PE from one another. All users of a lock use contexts of the same
/// team. While it is in use nothing else may write the word.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/impl/sync/argument_check.hpp"
#include "pgas/device/impl/sync/mcs_lock.hpp"

namespace pgas {

/// The type of a lock in the symmetric heap.
using lock_t = std::uint64_t;

/// Waits for the lock and takes it.
///
/// *Callers* any thread, one of a warp at a time. *Memory* `lock` is symmetric. *On return* this PE holds it. *Order*
/// acquires: all accesses of earlier holders before they cleared it, puts to any PE included, are visible. *Errors*
/// ends the thread with a record (operation::lock) when the world is aborted or the deadline passes; it names the
/// predecessor in the queue, or this PE if another thread of it has the lock.
PGAS_FN void set_lock(const context& ctx, lock_t* lock) {
  detail::check(ctx, detail::operation::lock, lock, ctx.my_pe());
  detail::lock_or_end(ctx, lock, detail::lock_set(detail::device_lock_words(ctx, lock)));
}

/// set_lock() by one thread of a group, for all of them.
/// *Callers* all threads of the group `g`, converged.
template <PGAS_IS(group) G>
PGAS_FN void set_lock(const context& ctx, const G& g, lock_t* lock) {
  detail::check(ctx, detail::operation::lock, lock, ctx.my_pe());
  bool mine = false;
  if (g.thread_rank() == 0) mine = detail::lock_set(detail::device_lock_words(ctx, lock)) == detail::lock_result::done;
  detail::exit_unless_leader(g, mine);
}

/// Takes the lock if it is free.
///
/// *Callers* any thread. *Memory* `lock` is symmetric. *On return* whether this PE has it now. *Order* acquires if so.
[[nodiscard]] PGAS_FN bool test_lock(const context& ctx, lock_t* lock) {
  detail::check(ctx, detail::operation::lock, lock, ctx.my_pe());
  return detail::lock_test(detail::device_lock_words(ctx, lock)) == detail::lock_result::done;
}

/// test_lock() by one thread of a group, for all of them.
/// *Callers* all threads of the group `g`, converged. *On return* the same on all of them.
template <PGAS_IS(group) G>
[[nodiscard]] PGAS_FN bool test_lock(const context& ctx, const G& g, lock_t* lock) {
  detail::check(ctx, detail::operation::lock, lock, ctx.my_pe());  // by all, as all end
  return detail::any(g, g.thread_rank() == 0 && test_lock(ctx, lock));
}

/// Gives the lock to the PE that has waited longest, or frees it.
///
/// *Callers* any thread of the PE that holds it. *Memory* `lock` is symmetric. *Order* releases: everything this thread
/// did before, puts to any PE included, is visible to the next holder. *Errors* ends the thread with a record if this
/// PE does not hold the lock.
PGAS_FN void clear_lock(const context& ctx, lock_t* lock) {
  detail::check(ctx, detail::operation::lock, lock, ctx.my_pe());
  detail::lock_or_end(ctx, lock, detail::lock_clear(detail::device_lock_words(ctx, lock)));
}

/// clear_lock() by one thread of a group, after a sync of it. *Callers* all threads of the group `g`, converged.
/// *Order* releases earlier accesses of all of them.
template <PGAS_IS(group) G>
PGAS_FN void clear_lock(const context& ctx, const G& g, lock_t* lock) {
  detail::check(ctx, detail::operation::lock, lock, ctx.my_pe());
  g.sync();
  if (g.thread_rank() == 0) clear_lock(ctx, lock);
  g.sync();
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
