/// @file
/// Symmetric memory and registered memory. Host side. Collective calls come after the work of the legacy default stream, as
/// order.h says.
#pragma once

#include "pgas/compat/nvshmem/types.h"

#pragma GCC visibility push(default)
extern "C" {

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
/// Collective. *On return* an nvshmemx_status.
int nvshmemx_buffer_unregister_symmetric(void* mmap_ptr, size_t size);

/// Collective: queue pairs, which are all one here. *Memory* the array is the program's, by new[].
int nvshmemx_qp_create(int num_qps, nvshmemx_qp_handle_t** out_qp_array);

}  // extern "C"
#pragma GCC visibility pop
