/// @file
/// OpenSHMEM: initialization, finalization, and queries of PEs and of the library.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Collective: joins the world of the launcher, on the host heap unless PGAS_HEAP is set. On the host heap static data
/// is symmetric from here on: call it before other threads write to such data. Each further call needs a
/// shmem_finalize().
PGAS_SHMEM_DECLARE(void, init, (void))
/// The same. *On return* `provided` is always SHMEM_THREAD_MULTIPLE. Nonzero when it fails.
PGAS_SHMEM_DECLARE(int, init_thread, (int requested, int* provided))
PGAS_SHMEM_DECLARE(void, query_thread, (int* provided))
PGAS_SHMEM_DECLARE(void, query_initialized, (int* initialized))
/// Collective: leaves the world; nothing without one. A program that exits with status 0 without this call leaves
/// during exit; with another status it aborts the world.
PGAS_SHMEM_DECLARE(void, finalize, (void))
/// Ends the processes of all PEs with this status.
PGAS_SHMEM_DECLARE(void, global_exit, (int status))

PGAS_SHMEM_DECLARE(int, my_pe, (void))
PGAS_SHMEM_DECLARE(int, n_pes, (void))
/// Whether there is such a PE.
PGAS_SHMEM_DECLARE(int, pe_accessible, (int pe))
/// Whether `addr` is symmetric memory of PE `pe`.
PGAS_SHMEM_DECLARE(int, addr_accessible, (const void* addr, int pe))

PGAS_SHMEM_DECLARE(void, info_get_version, (int* major, int* minor))
PGAS_SHMEM_DECLARE(void, info_get_name, (char* name))
/// For profilers to replace; does nothing.
PGAS_SHMEM_DECLARE(void, pcontrol, (int level, ...))

#ifdef __cplusplus
}
#endif
