/// @file
/// Functions that only hosts call: initialization and finalization, symmetric and registered memory, teams. query.h
/// declares queries, launch.h declares launches, and qp.h declares queue pairs.
///
/// A program may initialize before it chooses a GPU. The first call that needs memory, a barrier or a team then joins
/// the world with the current GPU. Each initialization needs a finalization; the last finalization leaves the world.
///
/// Collective calls wait for the work of the legacy default stream, as collective.h describes.
#pragma once

#include "pgas/compat/nvshmem/types.h"

#pragma GCC visibility push(default)
extern "C" {

// ---- initialization ----

/// Collective: finds the other PEs through the launcher.
void nvshmem_init(void);
/// Like nvshmem_init(), with a requested thread level. @return 0; `*provided` is always NVSHMEM_THREAD_MULTIPLE.
int nvshmem_init_thread(int requested, int* provided);
void nvshmem_query_thread(int* provided);
/// Collective: finds the other PEs by the method of the flag NVSHMEMX_INIT_WITH_*. Without such a flag, finds the other
/// PEs through the launcher. Only the attributes of that method are read. @return An nvshmemx_status.
int nvshmemx_init_attr(unsigned int flags, nvshmemx_init_attr_t* attributes);
int nvshmemx_hostlib_init_attr(unsigned int flags, nvshmemx_init_attr_t* attr);
/// The status NVSHMEM_STATUS_*. *Callers* any thread, at any time.
int nvshmemx_init_status(void);
/// Collective: the call that matches the first initialization waits for all PEs and leaves the world. Further calls
/// have no effect.
void nvshmem_finalize(void);
void nvshmemx_hostlib_finalize(void);

/// Creates a unique id. The calling process must become PE 0 and run until all PEs have joined. @return An
/// nvshmemx_status.
int nvshmemx_get_uniqueid(nvshmemx_uniqueid_t* uniqueid);
/// Set the attributes of the flags NVSHMEMX_INIT_WITH_UNIQUEID and _MPI_COMM. *Memory* `uniqueid` and the communicator
/// are read during initialization.
int nvshmemx_set_attr_uniqueid_args(const int myrank, const int nranks, const nvshmemx_uniqueid_t* uniqueid,
                                    nvshmemx_init_attr_t* attr);
int nvshmemx_set_attr_mpi_comm_args(void* mpi_comm, nvshmemx_init_attr_t* attr);

/// Initializes and finalizes the device state of a module or library that the program has loaded. Finalize the state
/// before the module is unloaded. @return An nvshmemx_status; NVSHMEMX_ERROR_INVALID_VALUE if the code of the module
/// does not include nvshmem.h.
int nvshmemx_cumodule_init(CUmodule module);
int nvshmemx_cumodule_finalize(CUmodule module);
int nvshmemx_culibrary_init(CUlibrary library);
int nvshmemx_culibrary_finalize(CUlibrary library);

// ---- memory ----

/// Collective: allocates memory on every PE, at the same offset. Returns null for 0 bytes and on failure. *Memory*
/// aligned to at least 16 bytes; `alignment` is rounded up to a power of two. *Order* the call returns only after all
/// PEs have made the call.
void* nvshmem_malloc(size_t size);
void* nvshmem_calloc(size_t count, size_t size);
void* nvshmem_align(size_t alignment, size_t size);
/// Collective: frees the memory. *Order* the memory is freed after a barrier of all PEs.
void nvshmem_free(void* ptr);

/// Registers memory for use as a local buffer. Registration is not necessary: operations accept any memory. The call
/// fails only for memory that does not belong to this program or is already registered. @return An nvshmemx_status.
int nvshmemx_buffer_register(void* addr, size_t length);
int nvshmemx_buffer_unregister(void* addr);
void nvshmemx_buffer_unregister_all(void);

/// Collective: gives memory that the program has allocated elsewhere a second address, in the symmetric heap. @return
/// The second address, or null. *Memory* as for pgas::register_symmetric(); `flags` are ignored.
void* nvshmemx_buffer_register_symmetric(void* buf_ptr, size_t size, int flags);
/// Like nvshmemx_buffer_register_symmetric(), but the second address is `preferred_addr` if that address is free on all
/// PEs, for example after the program has ended an earlier registration there. Otherwise the call chooses another
/// address. The program must use the returned address.
void* nvshmemx_buffer_register_symmetric_at_preferred_address(void* buf_ptr, size_t size, void* preferred_addr,
                                                              int flags);
/// Collective: ends the registration. @return An nvshmemx_status.
int nvshmemx_buffer_unregister_symmetric(void* mmap_ptr, size_t size);

// ---- teams: functions return an nvshmemx_status; `*new_team` is NVSHMEM_TEAM_INVALID on failure and on PEs that are
// not members ----

/// Collective over the parent: creates a team of the parent's members start, start + stride, ... The configuration may
/// be omitted.
int nvshmem_team_split_strided(nvshmem_team_t parent_team, int PE_start, int PE_stride, int PE_size,
                               const nvshmem_team_config_t* config, long config_mask, nvshmem_team_t* new_team);
/// Collective over the parent: arranges its members in rows of `xrange` members, and creates a team for each row and
/// for each column.
int nvshmem_team_split_2d(nvshmem_team_t parent_team, int xrange, const nvshmem_team_config_t* xaxis_config,
                          long xaxis_mask, nvshmem_team_t* xaxis_team, const nvshmem_team_config_t* yaxis_config,
                          long yaxis_mask, nvshmem_team_t* yaxis_team);
/// Collective over the team: destroys the team. NVSHMEM_TEAM_INVALID is ignored.
void nvshmem_team_destroy(nvshmem_team_t team);
/// Writes to `*config` the configuration with which the team was created.
void nvshmem_team_get_config(nvshmem_team_t team, nvshmem_team_config_t* config);

/// Creates a unique id for nvshmemx_team_init(): one member creates the id and sends it to the other members.
int nvshmemx_team_get_uniqueid(nvshmemx_team_uniqueid_t* uniqueid);
/// Collective over the `npes` PEs with the same unique id in their configurations: creates a team. Each PE passes its
/// own number in the team.
int nvshmemx_team_init(nvshmem_team_t* team, nvshmem_team_config_t* config, long config_mask, int npes,
                       int pe_idx_in_team);

}  // extern "C"
#pragma GCC visibility pop
