/// @file
/// OpenSHMEM: locks, which are taken in the order of asking.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A lock is a symmetric variable, initially zero: one lock for all PEs. Holders are PEs, not threads.
///
/// Waits for the lock and takes it: what earlier holders stored before they cleared it is visible then.
PGAS_SHMEM_DECLARE(void, set_lock, (long* lock))
/// Gives it to the PE that has waited longest, after this PE's operations are complete. *Errors* where this PE does not
/// hold it.
PGAS_SHMEM_DECLARE(void, clear_lock, (long* lock))
/// Takes it if it is free, and does not wait. 0 if this PE has it now.
PGAS_SHMEM_DECLARE(int, test_lock, (long* lock))

#ifdef __cplusplus
}
#endif
