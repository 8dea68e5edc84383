/// @file
/// OpenSHMEM: locks, which are taken in the order of asking.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A lock is a symmetric variable, initially zero: one lock for all PEs.
PGAS_SHMEM_DECLARE(void, set_lock, (long* lock))
PGAS_SHMEM_DECLARE(void, clear_lock, (long* lock))
/// 0 if this PE has acquired it.
PGAS_SHMEM_DECLARE(int, test_lock, (long* lock))

#ifdef __cplusplus
}
#endif
