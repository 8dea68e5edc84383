/// @file
/// OpenSHMEM: order, completion, locks.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

PGAS_SHMEM_DECLARE(void, fence, (void))
PGAS_SHMEM_DECLARE(void, ctx_fence, (shmem_ctx_t ctx))
PGAS_SHMEM_DECLARE(void, quiet, (void))
PGAS_SHMEM_DECLARE(void, ctx_quiet, (shmem_ctx_t ctx))
/// Completes the operations to these PEs.
PGAS_SHMEM_DECLARE_CTX(void, pe_quiet, const int* target_pes, size_t npes)

/// A lock is a symmetric variable, initially zero: one lock for all PEs.
PGAS_SHMEM_DECLARE(void, set_lock, (long* lock))
PGAS_SHMEM_DECLARE(void, clear_lock, (long* lock))
/// 0 if this PE has acquired it.
PGAS_SHMEM_DECLARE(int, test_lock, (long* lock))

#ifdef __cplusplus
}
#endif
