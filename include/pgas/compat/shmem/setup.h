/// @file
/// OpenSHMEM: starting, ending, and what a program may ask of the library.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Collective: joins the world of the launcher, on the host heap unless PGAS_HEAP says otherwise. From here on static
/// data is symmetric, on the host heap: call it before other threads write to such data. Called again, it counts how
/// often shmem_finalize() has to be called.
PGAS_SHMEM_DECLARE(void, init, (void))
/// The same. *On return* `provided` is SHMEM_THREAD_MULTIPLE whatever was requested. Nonzero when it fails.
PGAS_SHMEM_DECLARE(int, init_thread, (int requested, int* provided))
PGAS_SHMEM_DECLARE(void, query_thread, (int* provided))
PGAS_SHMEM_DECLARE(void, query_initialized, (int* initialized))
/// Collective: leaves. A program that exits with status 0 without it leaves on its way out; with another status it ends
/// the world for all. Nothing where there is nothing to leave.
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
/// For profilers that replace it; does nothing here.
PGAS_SHMEM_DECLARE(void, pcontrol, (int level, ...))

#ifdef __cplusplus
}
#endif
