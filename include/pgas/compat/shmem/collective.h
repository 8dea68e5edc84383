/// @file
/// OpenSHMEM: collectives of teams. The functions return zero, or nonzero on failure.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

PGAS_SHMEM_DECLARE(void, barrier_all, (void))
PGAS_SHMEM_DECLARE(void, sync_all, (void))
PGAS_SHMEM_DECLARE(int, team_sync, (shmem_team_t team))

#define PGAS_RMA_TYPE(NAME, TYPE)                                                                               \
  PGAS_SHMEM_DECLARE(int, NAME##_broadcast,                                                                     \
                     (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems, int PE_root))          \
  PGAS_SHMEM_DECLARE(int, NAME##_collect, (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems))  \
  PGAS_SHMEM_DECLARE(int, NAME##_fcollect, (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems)) \
  PGAS_SHMEM_DECLARE(int, NAME##_alltoall, (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems)) \
  PGAS_SHMEM_DECLARE(                                                                                           \
      int, NAME##_alltoalls,                                                                                    \
      (shmem_team_t team, TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems))

#define PGAS_SHMEM_REDUCE(NAME, TYPE, OP) \
  PGAS_SHMEM_DECLARE(int, NAME##_##OP##_reduce, (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nreduce))
#define PGAS_REDUCE_BITS_TYPE(NAME, TYPE) \
  PGAS_SHMEM_REDUCE(NAME, TYPE, and)      \
  PGAS_SHMEM_REDUCE(NAME, TYPE, or)       \
  PGAS_SHMEM_REDUCE(NAME, TYPE, xor)
#define PGAS_REDUCE_ORDER_TYPE(NAME, TYPE) \
  PGAS_SHMEM_REDUCE(NAME, TYPE, min)       \
  PGAS_SHMEM_REDUCE(NAME, TYPE, max)
#define PGAS_REDUCE_SUM_TYPE(NAME, TYPE)                                                                          \
  PGAS_SHMEM_REDUCE(NAME, TYPE, sum)                                                                              \
  PGAS_SHMEM_REDUCE(NAME, TYPE, prod)                                                                             \
  PGAS_SHMEM_DECLARE(int, NAME##_sum_inscan, (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems)) \
  PGAS_SHMEM_DECLARE(int, NAME##_sum_exscan, (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems))

#include "../types.inc"
#undef PGAS_SHMEM_REDUCE

PGAS_SHMEM_DECLARE(int, broadcastmem, (shmem_team_t team, void* dest, const void* source, size_t nelems, int PE_root))
PGAS_SHMEM_DECLARE(int, collectmem, (shmem_team_t team, void* dest, const void* source, size_t nelems))
PGAS_SHMEM_DECLARE(int, fcollectmem, (shmem_team_t team, void* dest, const void* source, size_t nelems))
PGAS_SHMEM_DECLARE(int, alltoallmem, (shmem_team_t team, void* dest, const void* source, size_t nelems))
PGAS_SHMEM_DECLARE(int, alltoallsmem,
                   (shmem_team_t team, void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems))

#ifdef __cplusplus
}
#endif

// C++: reductions of complex numbers for programs that use C's types (`float _Complex`, which <complex.h> of the GNU
// compilers provides to C++), besides those for std::complex. C's types and std::complex have the same layout.
#if defined(__cplusplus) && defined(__GNUC__)
__extension__ typedef float _Complex pgas_shmem_complexf;
__extension__ typedef double _Complex pgas_shmem_complexd;

#define PGAS_SHMEM_OF_C(NAME, OF_C, OF_CXX)                                                                     \
  inline int shmem_##NAME(shmem_team_t team, OF_C* dest, const OF_C* source, size_t count) {                    \
    return shmem_##NAME(team, reinterpret_cast<OF_CXX*>(dest), reinterpret_cast<const OF_CXX*>(source), count); \
  }
#define PGAS_SHMEM_ALL_OF_C(NAME, OF_C, OF_CXX)     \
  PGAS_SHMEM_OF_C(NAME##_sum_reduce, OF_C, OF_CXX)  \
  PGAS_SHMEM_OF_C(NAME##_prod_reduce, OF_C, OF_CXX) \
  PGAS_SHMEM_OF_C(NAME##_sum_inscan, OF_C, OF_CXX)  \
  PGAS_SHMEM_OF_C(NAME##_sum_exscan, OF_C, OF_CXX)
PGAS_SHMEM_ALL_OF_C(complexf, pgas_shmem_complexf, std::complex<float>)
PGAS_SHMEM_ALL_OF_C(complexd, pgas_shmem_complexd, std::complex<double>)
#undef PGAS_SHMEM_OF_C
#undef PGAS_SHMEM_ALL_OF_C
#endif
