/// @file
/// OpenSHMEM 1.4: collectives of PEs PE_start, PE_start + 2^logPE_stride, ..., PE_size of them, which all call.
/// `pSync` and `pWrk` are not used.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PGAS_SHMEM_SET int PE_start, int logPE_stride, int PE_size

PGAS_SHMEM_DECLARE(void, barrier, (PGAS_SHMEM_SET, long* pSync))
PGAS_SHMEM_DECLARE(void, sync, (PGAS_SHMEM_SET, long* pSync))

#define PGAS_SHMEM_SET_SIZED(BITS)                                                                              \
  PGAS_SHMEM_DECLARE(void, broadcast##BITS,                                                                     \
                     (void* dest, const void* source, size_t nelems, int PE_root, PGAS_SHMEM_SET, long* pSync)) \
  PGAS_SHMEM_DECLARE(void, collect##BITS,                                                                       \
                     (void* dest, const void* source, size_t nelems, PGAS_SHMEM_SET, long* pSync))              \
  PGAS_SHMEM_DECLARE(void, fcollect##BITS,                                                                      \
                     (void* dest, const void* source, size_t nelems, PGAS_SHMEM_SET, long* pSync))              \
  PGAS_SHMEM_DECLARE(void, alltoall##BITS,                                                                      \
                     (void* dest, const void* source, size_t nelems, PGAS_SHMEM_SET, long* pSync))              \
  PGAS_SHMEM_DECLARE(                                                                                           \
      void, alltoalls##BITS,                                                                                    \
      (void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, PGAS_SHMEM_SET, long* pSync))
PGAS_SHMEM_SET_SIZED(32)
PGAS_SHMEM_SET_SIZED(64)
#undef PGAS_SHMEM_SET_SIZED

#define PGAS_SHMEM_TO_ALL(NAME, TYPE, OP)        \
  PGAS_SHMEM_DECLARE(void, NAME##_##OP##_to_all, \
                     (TYPE * dest, const TYPE* source, int nreduce, PGAS_SHMEM_SET, TYPE* pWrk, long* pSync))
#define PGAS_SET_BITS_TYPE(NAME, TYPE) \
  PGAS_SHMEM_TO_ALL(NAME, TYPE, and)   \
  PGAS_SHMEM_TO_ALL(NAME, TYPE, or)    \
  PGAS_SHMEM_TO_ALL(NAME, TYPE, xor)
#define PGAS_SET_ORDER_TYPE(NAME, TYPE) \
  PGAS_SHMEM_TO_ALL(NAME, TYPE, min)    \
  PGAS_SHMEM_TO_ALL(NAME, TYPE, max)
#define PGAS_SET_SUM_TYPE(NAME, TYPE) \
  PGAS_SHMEM_TO_ALL(NAME, TYPE, sum)  \
  PGAS_SHMEM_TO_ALL(NAME, TYPE, prod)
#include "../types.inc"
#undef PGAS_SHMEM_TO_ALL
#undef PGAS_SHMEM_SET

#ifdef __cplusplus
}
#endif
