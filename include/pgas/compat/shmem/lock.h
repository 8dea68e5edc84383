/// @file
/// OpenSHMEM: locks, granted in the order of the requests.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A lock is a symmetric variable, initially zero. The copies of the variable on all PEs are one lock. A lock is held
/// by a PE, not by a thread.
///
/// Waits for the lock and takes it. On return, the stores that earlier holders made before they cleared the lock are
/// visible.
PGAS_SHMEM_DECLARE(void, set_lock, (long* lock))
/// Passes the lock to the PE that has waited longest, after this PE's operations are complete. *Errors* it is an error
/// if this PE does not hold the lock.
PGAS_SHMEM_DECLARE(void, clear_lock, (long* lock))
/// Takes the lock if it is free. Does not wait. @return 0 if this PE now holds the lock.
PGAS_SHMEM_DECLARE(int, test_lock, (long* lock))

#ifdef __cplusplus
}
#endif
