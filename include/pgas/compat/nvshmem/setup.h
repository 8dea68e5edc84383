/// @file
/// Initialization and finalization. Host side; queries are in query.h.
///
/// Initialization may come before a GPU is chosen: the first call that needs memory, a barrier or a team then joins
/// with the current GPU. Each initialization needs a finalization; the last one leaves the world.
#pragma once

#include "pgas/compat/nvshmem/types.h"

#pragma GCC visibility push(default)
extern "C" {

/// Collective: finds the other PEs through the launcher.
void nvshmem_init(void);
/// The same. *On return* 0; `*provided` is always NVSHMEM_THREAD_MULTIPLE.
int nvshmem_init_thread(int requested, int* provided);
void nvshmem_query_thread(int* provided);
/// Collective: finds the other PEs by the method of the flag NVSHMEMX_INIT_WITH_*, without one through the launcher.
/// Only the attributes of that method are read. *On return* an nvshmemx_status.
int nvshmemx_init_attr(unsigned int flags, nvshmemx_init_attr_t* attributes);
int nvshmemx_hostlib_init_attr(unsigned int flags, nvshmemx_init_attr_t* attr);
/// NVSHMEM_STATUS_*. *Callers* any time.
int nvshmemx_init_status(void);
/// Collective: the last call waits for all PEs and leaves; further calls do nothing.
void nvshmem_finalize(void);
void nvshmemx_hostlib_finalize(void);

/// A unique id. The calling process must become PE 0 and live until all PEs have joined. *On return* an
/// nvshmemx_status.
int nvshmemx_get_uniqueid(nvshmemx_uniqueid_t* uniqueid);
/// Set the attributes of the flags NVSHMEMX_INIT_WITH_UNIQUEID and _MPI_COMM. *Memory* `uniqueid` and the communicator
/// are read during initialization.
int nvshmemx_set_attr_uniqueid_args(const int myrank, const int nranks, const nvshmemx_uniqueid_t* uniqueid,
                                    nvshmemx_init_attr_t* attr);
int nvshmemx_set_attr_mpi_comm_args(void* mpi_comm, nvshmemx_init_attr_t* attr);

/// Initializes and finalizes the device state of a module, or library, that the program has loaded; finalize before
/// unloading. *On return* an nvshmemx_status; NVSHMEMX_ERROR_INVALID_VALUE where its code does not include nvshmem.h.
int nvshmemx_cumodule_init(CUmodule module);
int nvshmemx_cumodule_finalize(CUmodule module);
int nvshmemx_culibrary_init(CUlibrary library);
int nvshmemx_culibrary_finalize(CUlibrary library);

}  // extern "C"
#pragma GCC visibility pop
