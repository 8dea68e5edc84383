/// @file
/// OpenSHMEM: functions that copy data, and functions that order and complete copies. Each function that copies data
/// also has a form with a context as its first argument.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PGAS_RMA_TYPE(NAME, TYPE)                                                                          \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_put, TYPE* dest, const TYPE* source, size_t nelems, int pe)          \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_get, TYPE* dest, const TYPE* source, size_t nelems, int pe)          \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_put_nbi, TYPE* dest, const TYPE* source, size_t nelems, int pe)      \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_get_nbi, TYPE* dest, const TYPE* source, size_t nelems, int pe)      \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_p, TYPE* dest, TYPE value, int pe)                                   \
  PGAS_SHMEM_DECLARE_CTX(TYPE, NAME##_g, const TYPE* source, int pe)                                       \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_iput, TYPE* dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst,  \
                         size_t nelems, int pe)                                                            \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_iget, TYPE* dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst,  \
                         size_t nelems, int pe)                                                            \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_ibput, TYPE* dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, \
                         size_t bsize, size_t nblocks, int pe)                                             \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_ibget, TYPE* dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, \
                         size_t bsize, size_t nblocks, int pe)

#define PGAS_SIZED(BITS, BYTES)                                                                           \
  PGAS_SHMEM_DECLARE_CTX(void, put##BITS, void* dest, const void* source, size_t nelems, int pe)          \
  PGAS_SHMEM_DECLARE_CTX(void, get##BITS, void* dest, const void* source, size_t nelems, int pe)          \
  PGAS_SHMEM_DECLARE_CTX(void, put##BITS##_nbi, void* dest, const void* source, size_t nelems, int pe)    \
  PGAS_SHMEM_DECLARE_CTX(void, get##BITS##_nbi, void* dest, const void* source, size_t nelems, int pe)    \
  PGAS_SHMEM_DECLARE_CTX(void, iput##BITS, void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst,  \
                         size_t nelems, int pe)                                                           \
  PGAS_SHMEM_DECLARE_CTX(void, iget##BITS, void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst,  \
                         size_t nelems, int pe)                                                           \
  PGAS_SHMEM_DECLARE_CTX(void, ibput##BITS, void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, \
                         size_t bsize, size_t nblocks, int pe)                                            \
  PGAS_SHMEM_DECLARE_CTX(void, ibget##BITS, void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, \
                         size_t bsize, size_t nblocks, int pe)

#include "../types.inc"

PGAS_SHMEM_DECLARE_CTX(void, putmem, void* dest, const void* source, size_t nelems, int pe)
PGAS_SHMEM_DECLARE_CTX(void, getmem, void* dest, const void* source, size_t nelems, int pe)
PGAS_SHMEM_DECLARE_CTX(void, putmem_nbi, void* dest, const void* source, size_t nelems, int pe)
PGAS_SHMEM_DECLARE_CTX(void, getmem_nbi, void* dest, const void* source, size_t nelems, int pe)

// ---- order and completion ----

PGAS_SHMEM_DECLARE(void, fence, (void))
PGAS_SHMEM_DECLARE(void, ctx_fence, (shmem_ctx_t ctx))
PGAS_SHMEM_DECLARE(void, quiet, (void))
PGAS_SHMEM_DECLARE(void, ctx_quiet, (shmem_ctx_t ctx))
/// Completes the operations to the listed PEs.
PGAS_SHMEM_DECLARE_CTX(void, pe_quiet, const int* target_pes, size_t npes)

#ifdef __cplusplus
}
#endif
