/// @file
/// Beginning and end. Host side; queries are in query.h.
///
/// Initialization may come before a GPU is chosen: then PEs know one another, and the first call that needs memory, a
/// barrier or a team goes on with the GPU that is current by then. Every initialization has its finalization; the last
/// one ends the job.
#pragma once

#include "pgas/compat/nvshmem/types.h"

#pragma GCC visibility push(default)
extern "C" {

/// Collective: finds the other PEs through the launcher.
void nvshmem_init(void);
/// The same. Threads may always call at once: *provided is NVSHMEM_THREAD_MULTIPLE. *On return* 0.
int nvshmem_init_thread(int requested, int* provided);
void nvshmem_query_thread(int* provided);
/// Collective: finds the other PEs as one of the flags NVSHMEMX_INIT_WITH_* says, through the launcher without. What
/// the flag does not need is not read from `attributes`. *On return* an nvshmemx_status.
int nvshmemx_init_attr(unsigned int flags, nvshmemx_init_attr_t* attributes);
int nvshmemx_hostlib_init_attr(unsigned int flags, nvshmemx_init_attr_t* attr);
/// NVSHMEM_STATUS_*. *Callers* any time.
int nvshmemx_init_status(void);
/// Collective: the last one waits for all PEs and gives everything back; more do nothing.
void nvshmem_finalize(void);
void nvshmemx_hostlib_finalize(void);

/// A meeting point in this process, which is then PE 0 and goes on until all have come. *On return* an nvshmemx_status.
int nvshmemx_get_uniqueid(nvshmemx_uniqueid_t* uniqueid);
/// Fills in what the flags NVSHMEMX_INIT_WITH_UNIQUEID and _MPI_COMM need. *Memory* `uniqueid` and the communicator are
/// read when initializing.
int nvshmemx_set_attr_uniqueid_args(const int myrank, const int nranks, const nvshmemx_uniqueid_t* uniqueid,
                                    nvshmemx_init_attr_t* attr);
int nvshmemx_set_attr_mpi_comm_args(void* mpi_comm, nvshmemx_init_attr_t* attr);

/// Gives the kernels of a module, or library, that the program loaded by hand what they need; and takes it away before
/// it is unloaded. *On return* an nvshmemx_status; NVSHMEMX_ERROR_INVALID_VALUE where its code has nothing of
/// nvshmem.h.
int nvshmemx_cumodule_init(CUmodule module);
int nvshmemx_cumodule_finalize(CUmodule module);
int nvshmemx_culibrary_init(CUlibrary library);
int nvshmemx_culibrary_finalize(CUlibrary library);

}  // extern "C"
#pragma GCC visibility pop
