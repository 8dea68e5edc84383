/// @file
/// Locks that the host calls. At any time at most one PE of the world holds a lock. Kernels use the same locks
/// (device/lock.hpp), so kernels and hosts may contend for a lock. A lock is a 64-bit word in the symmetric heap,
/// initially zero, on the GPU heap or the host heap. PEs acquire a lock in the order of their calls.
///
/// *Callers* any thread. A PE holds the lock, not a thread. If several threads of a PE call set_lock(), one of these
/// threads at a time holds or awaits the lock, in unspecified order. Any thread of the PE may clear the lock. *Errors*
/// of all functions: outside_heap, misaligned; the first failure of the world, such as peer_lost naming a holder that
/// has died. The lock is unusable after an error.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/lock.hpp"
#include "pgas/world.hpp"

namespace pgas {

/// @brief Waits for the lock and acquires it.
///
/// *On return* this PE holds the lock.
/// *Order* acquires: stores that earlier holders made before they cleared the lock are visible, and the host operations
/// of earlier holders are complete.
///
/// @throws error wait_timeout if PGAS_WAIT_TIMEOUT is set, naming the preceding PE of the queue.
PGAS_API void set_lock(world& w, lock_t* lock);

/// @brief Acquires the lock if it is free.
///
/// *Order* acquires if the result is true.
///
/// @return Whether this PE now holds the lock.
[[nodiscard]] PGAS_API bool test_lock(world& w, lock_t* lock);

/// @brief Passes the lock to the PE that has waited longest, or frees the lock if no PE waits.
///
/// *Order* releases: earlier host operations of this PE are visible to the next holder. The call does not wait for work
/// on streams.
///
/// @throws error invalid_argument if this PE does not hold the lock.
PGAS_API void clear_lock(world& w, lock_t* lock);

}  // namespace pgas

#include "pgas/detail/names_end.inc"
