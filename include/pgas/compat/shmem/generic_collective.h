/// @file
/// C11: the type-generic names of team collectives.
#pragma once

#include "generic.h"

/// Of a team; of an active set with four arguments.
#define shmem_sync(...) \
  _Generic((PGAS_SHMEM_FIRST(__VA_ARGS__)), shmem_team_t : shmem_team_sync, default : shmem_sync)(__VA_ARGS__)

/// Also long double, which sums have too; no complex numbers.
#define PGAS_SHMEM_ORDER_TYPES(PRE, POST) PGAS_SHMEM_RMA_TYPES(PRE, POST)

#define shmem_broadcast(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_RMA_TYPES, _broadcast, __VA_ARGS__)
#define shmem_collect(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_RMA_TYPES, _collect, __VA_ARGS__)
#define shmem_fcollect(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_RMA_TYPES, _fcollect, __VA_ARGS__)
#define shmem_alltoall(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_RMA_TYPES, _alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_RMA_TYPES, _alltoalls, __VA_ARGS__)
#define shmem_and_reduce(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_REDUCE_BITS_TYPES, _and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_REDUCE_BITS_TYPES, _or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_REDUCE_BITS_TYPES, _xor_reduce, __VA_ARGS__)
#define shmem_min_reduce(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_ORDER_TYPES, _min_reduce, __VA_ARGS__)
#define shmem_max_reduce(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_ORDER_TYPES, _max_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_SUM_TYPES, _sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_SUM_TYPES, _prod_reduce, __VA_ARGS__)
#define shmem_sum_inscan(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_SUM_TYPES, _sum_inscan, __VA_ARGS__)
#define shmem_sum_exscan(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_SUM_TYPES, _sum_exscan, __VA_ARGS__)
