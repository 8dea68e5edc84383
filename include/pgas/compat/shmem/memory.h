/// @file
/// OpenSHMEM: symmetric memory. All of these are collective but shmem_ptr(); null where memory runs out, on all PEs
/// then.
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
/// Where this process may load and store what PE `pe` has at `dest`; null where it can't.
PGAS_SHMEM_DECLARE(void*, ptr, (const void* dest, int pe))

#ifdef __cplusplus
}
#endif
