/// @file
/// OpenSHMEM: collectives of teams. *On return* zero, or nonzero where it failed.
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
