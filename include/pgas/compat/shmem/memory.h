/// @file
/// OpenSHMEM: symmetric memory. All but shmem_ptr() are collective; where memory runs out, all PEs get null.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

PGAS_SHMEM_DECLARE(void*, malloc, (size_t size))
PGAS_SHMEM_DECLARE(void*, calloc, (size_t count, size_t size))
/// `alignment` is rounded up to a power of two.
PGAS_SHMEM_DECLARE(void*, align, (size_t alignment, size_t size))
PGAS_SHMEM_DECLARE(void*, realloc, (void* ptr, size_t size))
/// `hints`: SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE, both, or 0.
PGAS_SHMEM_DECLARE(void*, malloc_with_hints, (size_t size, long hints))
PGAS_SHMEM_DECLARE(void, free, (void* ptr))
/// The address at which this process can load and store PE `pe`'s `dest`; null if it cannot.
PGAS_SHMEM_DECLARE(void*, ptr, (const void* dest, int pe))

#ifdef __cplusplus
}
#endif
