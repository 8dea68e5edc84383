/// @file
/// Functions that only hosts call: initialization and finalization, symmetric and registered memory, teams. Queries are
/// in query.h, launches in launch.h, queue pairs in qp.h.
///
/// Initialization may come before a GPU is chosen: the first call that needs memory, a barrier or a team then joins
/// with the current GPU. Each initialization needs a finalization; the last one leaves the world.
///
/// Collective calls come after the work of the legacy default stream, as collective.h says.
#pragma once

#include "pgas/compat/nvshmem/types.h"

#pragma GCC visibility push(default)
extern "C" {

// ---- initialization ----

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

// ---- memory ----

/// Collective: memory on every PE, at the same offset; null for no bytes and where it fails. *Memory* aligned to 16
/// bytes at least; `alignment` is rounded up to a power of two. *Order* no PE returns before all have called.
void* nvshmem_malloc(size_t size);
void* nvshmem_calloc(size_t count, size_t size);
void* nvshmem_align(size_t alignment, size_t size);
/// Collective: gives it back. *Order* after a barrier of all PEs.
void nvshmem_free(void* ptr);

/// Registers memory for use as a local buffer. Operations take any memory without it; only what is not memory of this
/// program, or registered already, is refused. *On return* an nvshmemx_status.
int nvshmemx_buffer_register(void* addr, size_t length);
int nvshmemx_buffer_unregister(void* addr);
void nvshmemx_buffer_unregister_all(void);

/// Collective: maps memory that the program made into the symmetric heap as well. *On return* its symmetric address, or
/// null. *Memory* as pgas::register_symmetric() says; `flags` mean nothing.
void* nvshmemx_buffer_register_symmetric(void* buf_ptr, size_t size, int flags);
/// The same, at `preferred_addr` where that is free on all PEs, else elsewhere: the address that is returned counts. So
/// an address that was unregistered can be had again.
void* nvshmemx_buffer_register_symmetric_at_preferred_address(void* buf_ptr, size_t size, void* preferred_addr,
                                                              int flags);
/// Collective. *On return* an nvshmemx_status.
int nvshmemx_buffer_unregister_symmetric(void* mmap_ptr, size_t size);

// ---- teams: an nvshmemx_status is returned; `*new_team` is NVSHMEM_TEAM_INVALID on PEs that are not members, and
// where it fails ----

/// Collective over the parent: its members start, start + stride, ... A configuration is not needed.
int nvshmem_team_split_strided(nvshmem_team_t parent_team, int PE_start, int PE_stride, int PE_size,
                               const nvshmem_team_config_t* config, long config_mask, nvshmem_team_t* new_team);
/// Collective over the parent: rows of `xrange` members, and columns.
int nvshmem_team_split_2d(nvshmem_team_t parent_team, int xrange, const nvshmem_team_config_t* xaxis_config,
                          long xaxis_mask, nvshmem_team_t* xaxis_team, const nvshmem_team_config_t* yaxis_config,
                          long yaxis_mask, nvshmem_team_t* yaxis_team);
/// Collective over the team. NVSHMEM_TEAM_INVALID is ignored.
void nvshmem_team_destroy(nvshmem_team_t team);
/// The configuration that the team was made with.
void nvshmem_team_get_config(nvshmem_team_t team, nvshmem_team_config_t* config);

/// A unique id for nvshmemx_team_init(): one member gets it and sends it to the others.
int nvshmemx_team_get_uniqueid(nvshmemx_team_uniqueid_t* uniqueid);
/// Collective over the `npes` PEs that have the same unique id in their configurations; each gives its own number.
int nvshmemx_team_init(nvshmem_team_t* team, nvshmem_team_config_t* config, long config_mask, int npes,
                       int pe_idx_in_team);

}  // extern "C"
#pragma GCC visibility pop
