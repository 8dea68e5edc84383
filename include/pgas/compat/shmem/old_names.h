/// @file
/// OpenSHMEM: names that versions 1.2 to 1.4 replaced.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Calls shmem_init(); `npes` is ignored.
PGAS_SHMEM_API void start_pes(int npes);
PGAS_SHMEM_API int _my_pe(void);
PGAS_SHMEM_API int _num_pes(void);
PGAS_SHMEM_API void* shmalloc(size_t size);
PGAS_SHMEM_API void* shmemalign(size_t alignment, size_t size);
PGAS_SHMEM_API void* shrealloc(void* ptr, size_t size);
PGAS_SHMEM_API void shfree(void* ptr);

#define PGAS_WORD_TYPE(NAME, TYPE)                                        \
  PGAS_SHMEM_DECLARE(TYPE, NAME##_fetch, (const TYPE* source, int pe))    \
  PGAS_SHMEM_DECLARE(void, NAME##_set, (TYPE * dest, TYPE value, int pe)) \
  PGAS_SHMEM_DECLARE(TYPE, NAME##_swap, (TYPE * dest, TYPE value, int pe))
#define PGAS_INTEGER_TYPE(NAME, TYPE)                                                  \
  PGAS_SHMEM_DECLARE(TYPE, NAME##_cswap, (TYPE * dest, TYPE cond, TYPE value, int pe)) \
  PGAS_SHMEM_DECLARE(TYPE, NAME##_finc, (TYPE * dest, int pe))                         \
  PGAS_SHMEM_DECLARE(void, NAME##_inc, (TYPE * dest, int pe))                          \
  PGAS_SHMEM_DECLARE(TYPE, NAME##_fadd, (TYPE * dest, TYPE value, int pe))             \
  PGAS_SHMEM_DECLARE(void, NAME##_add, (TYPE * dest, TYPE value, int pe))
#define PGAS_OLD_WAIT_TYPE(NAME, TYPE) PGAS_SHMEM_DECLARE(void, NAME##_wait, (TYPE * ivar, TYPE cmp_value))
#include "../types.inc"

/// Waits for words of type `long`.
PGAS_SHMEM_DECLARE(void, wait, (long* ivar, long cmp_value))
PGAS_SHMEM_DECLARE(void, wait_until, (long* ivar, int cmp, long cmp_value))

/// The functions for caches have no effect, because caches are coherent.
PGAS_SHMEM_DECLARE(void, set_cache_inv, (void))
PGAS_SHMEM_DECLARE(void, set_cache_line_inv, (void* dest))
PGAS_SHMEM_DECLARE(void, clear_cache_inv, (void))
PGAS_SHMEM_DECLARE(void, clear_cache_line_inv, (void* dest))
PGAS_SHMEM_DECLARE(void, udcflush, (void))
PGAS_SHMEM_DECLARE(void, udcflush_line, (void* dest))

#ifdef __cplusplus
}
#endif
