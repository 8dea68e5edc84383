/// @file
/// OpenSHMEM: initialization, finalization, queries of PEs and of the library; symmetric memory. All functions for
/// memory except shmem_ptr() are collective; when memory runs out, all PEs receive null.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Collective: joins the world of the launcher, on the host heap unless PGAS_HEAP is set. On the host heap static data
/// becomes symmetric: call shmem_init() before other threads write to static data. Each further call needs its own
/// shmem_finalize().
PGAS_SHMEM_DECLARE(void, init, (void))
/// Like shmem_init(), with a requested thread level. `provided` is always SHMEM_THREAD_MULTIPLE. @return Nonzero on
/// failure.
PGAS_SHMEM_DECLARE(int, init_thread, (int requested, int* provided))
PGAS_SHMEM_DECLARE(void, query_thread, (int* provided))
PGAS_SHMEM_DECLARE(void, query_initialized, (int* initialized))
/// Collective: leaves the world. Without a world the call has no effect. If a program exits without this call, it
/// leaves the world during exit if the status is 0, and aborts the world otherwise.
PGAS_SHMEM_DECLARE(void, finalize, (void))
/// Ends the processes of all PEs with the exit status `status`.
PGAS_SHMEM_DECLARE(void, global_exit, (int status))

PGAS_SHMEM_DECLARE(int, my_pe, (void))
PGAS_SHMEM_DECLARE(int, n_pes, (void))
/// Whether PE `pe` exists.
PGAS_SHMEM_DECLARE(int, pe_accessible, (int pe))
/// Whether `addr` is symmetric memory of PE `pe`.
PGAS_SHMEM_DECLARE(int, addr_accessible, (const void* addr, int pe))

PGAS_SHMEM_DECLARE(void, info_get_version, (int* major, int* minor))
PGAS_SHMEM_DECLARE(void, info_get_name, (char* name))
/// Has no effect. Profilers may replace the function.
PGAS_SHMEM_DECLARE(void, pcontrol, (int level, ...))

// ---- symmetric memory ----

PGAS_SHMEM_DECLARE(void*, malloc, (size_t size))
PGAS_SHMEM_DECLARE(void*, calloc, (size_t count, size_t size))
/// `alignment` is rounded up to a power of two.
PGAS_SHMEM_DECLARE(void*, align, (size_t alignment, size_t size))
PGAS_SHMEM_DECLARE(void*, realloc, (void* ptr, size_t size))
/// `hints`: SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE, both, or 0.
PGAS_SHMEM_DECLARE(void*, malloc_with_hints, (size_t size, long hints))
PGAS_SHMEM_DECLARE(void, free, (void* ptr))
/// The address at which this process can load and store PE `pe`'s copy of `dest`; null if PE `pe` is not load/store
/// accessible.
PGAS_SHMEM_DECLARE(void*, ptr, (const void* dest, int pe))

#ifdef __cplusplus
}
#endif
