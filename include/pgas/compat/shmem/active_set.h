/// @file
/// OpenSHMEM: collectives of active sets, as in version 1.4. A set has PE_size PEs: PE_start, PE_start +
/// 2^logPE_stride, ... All PEs of the set make the call. `pSync` and `pWrk` are ignored.
#pragma once

#include "collective.h"
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

// C++: reductions of complex numbers for programs that use C's types, as in collective.h.
#if defined(__cplusplus) && defined(__GNUC__)
#define PGAS_SHMEM_OF_C_TO_ALL(NAME, OF_C, OF_CXX)                                                                   \
  inline void shmem_##NAME(OF_C* dest, const OF_C* source, int nreduce, int PE_start, int logPE_stride, int PE_size, \
                           OF_C* pWrk, long* pSync) {                                                                \
    shmem_##NAME(reinterpret_cast<OF_CXX*>(dest), reinterpret_cast<const OF_CXX*>(source), nreduce, PE_start,        \
                 logPE_stride, PE_size, reinterpret_cast<OF_CXX*>(pWrk), pSync);                                     \
  }
PGAS_SHMEM_OF_C_TO_ALL(complexf_sum_to_all, pgas_shmem_complexf, std::complex<float>)
PGAS_SHMEM_OF_C_TO_ALL(complexf_prod_to_all, pgas_shmem_complexf, std::complex<float>)
PGAS_SHMEM_OF_C_TO_ALL(complexd_sum_to_all, pgas_shmem_complexd, std::complex<double>)
PGAS_SHMEM_OF_C_TO_ALL(complexd_prod_to_all, pgas_shmem_complexd, std::complex<double>)
#undef PGAS_SHMEM_OF_C_TO_ALL
#endif
