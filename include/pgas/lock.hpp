/// @file
/// Locks that one PE of the world holds at a time, called from the host: the same locks as in device/lock.hpp, so
/// kernels and hosts may contend for one. A lock is a 64-bit word in the symmetric heap, zero when made, on either
/// heap. PEs get it in the order of their calls.
///
/// *Callers* any thread. Holders are PEs: of several threads of one PE that call, one at a time holds or awaits the
/// lock, in no given order; a lock that one thread of a PE has set, another may clear. *Errors* of all functions:
/// outside_heap, misaligned; the first failure of the world, such as peer_lost naming a holder that has died. After an
/// error the lock can not be used any more.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/lock.hpp"
#include "pgas/world.hpp"

namespace pgas {

/// Waits for the lock and takes it.
/// *On return* this PE holds it. *Order* acquires: stores of earlier holders before they cleared it are visible; host
/// operations of the earlier holder are complete. *Errors* wait_timeout, when PGAS_WAIT_TIMEOUT is set, naming the PE
/// ahead in the queue.
PGAS_API void set_lock(world& w, lock_t* lock);

/// Takes the lock if it is free. *On return* whether this PE holds it. *Order* acquires if so.
[[nodiscard]] PGAS_API bool test_lock(world& w, lock_t* lock);

/// Gives the lock to the PE that has waited longest, or frees it.
/// *Order* releases: host operations of this PE before it are visible to the next holder. Work on streams is not waited
/// for. *Errors* invalid_argument when this PE does not hold the lock.
PGAS_API void clear_lock(world& w, lock_t* lock);

}  // namespace pgas

#include "pgas/detail/names_end.inc"
