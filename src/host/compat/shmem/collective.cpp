// shmem.h: collectives of teams.
#include "pgas/collective.hpp"

#include <cstddef>

#include "host/compat/shmem/define_function.hpp"
#include "host/compat/shmem/reduce_by_name.hpp"

namespace {

using namespace pgas::compat;

template <class T>
void scan(shmem_team_t team, T* dest, const T* source, std::size_t count, bool inclusive) {
  const pgas::team& members = library().team_of(team);
  if constexpr (std::is_same_v<T, long double>)
    reduce_long_double(library().world(), members, symmetric(dest), symmetric(source), count,
                       members.my_pe() + (inclusive ? 1 : 0), long_double_sum{});
  else if (inclusive)
    pgas::inclusive_scan(members, symmetric(dest), symmetric(source), count, pgas::op::sum{});
  else
    pgas::exclusive_scan(members, symmetric(dest), symmetric(source), count, pgas::op::sum{});
}

}  // namespace

extern "C" {

PGAS_SHMEM_DEFINE(void, barrier_all, (void), library().world().barrier_all();)
PGAS_SHMEM_DEFINE(void, sync_all, (void), pgas::sync(library().world().team());)
PGAS_SHMEM_DEFINE_STATUS(team_sync, (shmem_team_t team), pgas::sync(library().team_of(team));)

#define PGAS_SHMEM_MOVES(TYPE, BROADCAST, COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS, DEST, SOURCE)                     \
  PGAS_SHMEM_DEFINE_STATUS(                                                                                         \
      BROADCAST, (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems, int PE_root),                  \
      pgas::broadcast(library().team_of(team), DEST(symmetric(dest)), SOURCE(symmetric(source)), nelems, PE_root);) \
  PGAS_SHMEM_DEFINE_STATUS(                                                                                         \
      COLLECT, (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems),                                 \
      pgas::collect(library().team_of(team), DEST(symmetric(dest)), SOURCE(symmetric(source)), nelems);)            \
  PGAS_SHMEM_DEFINE_STATUS(                                                                                         \
      FCOLLECT, (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems),                                \
      pgas::fcollect(library().team_of(team), DEST(symmetric(dest)), SOURCE(symmetric(source)), nelems);)           \
  PGAS_SHMEM_DEFINE_STATUS(                                                                                         \
      ALLTOALL, (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems),                                \
      pgas::alltoall(library().team_of(team), DEST(symmetric(dest)), SOURCE(symmetric(source)), nelems);)           \
  PGAS_SHMEM_DEFINE_STATUS(                                                                                         \
      ALLTOALLS, (shmem_team_t team, TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems), \
      pgas::alltoalls(library().team_of(team), DEST(symmetric(dest)), SOURCE(symmetric(source)), dst, sst, nelems);)

#define PGAS_RMA_TYPE(NAME, TYPE) \
  PGAS_SHMEM_MOVES(TYPE, NAME##_broadcast, NAME##_collect, NAME##_fcollect, NAME##_alltoall, NAME##_alltoalls, , )

#define PGAS_SHMEM_REDUCE(NAME, TYPE, OP)                                                                              \
  PGAS_SHMEM_DEFINE_STATUS(NAME##_##OP##_reduce, (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nreduce), \
                           reduce_to_all<reduce_##OP>(library().team_of(team), dest, source, nreduce);)
#define PGAS_REDUCE_BITS_TYPE(NAME, TYPE) \
  PGAS_SHMEM_REDUCE(NAME, TYPE, and)      \
  PGAS_SHMEM_REDUCE(NAME, TYPE, or)       \
  PGAS_SHMEM_REDUCE(NAME, TYPE, xor)
#define PGAS_REDUCE_ORDER_TYPE(NAME, TYPE) \
  PGAS_SHMEM_REDUCE(NAME, TYPE, min)       \
  PGAS_SHMEM_REDUCE(NAME, TYPE, max)
#define PGAS_REDUCE_SUM_TYPE(NAME, TYPE)                                                                           \
  PGAS_SHMEM_REDUCE(NAME, TYPE, sum)                                                                               \
  PGAS_SHMEM_REDUCE(NAME, TYPE, prod)                                                                              \
  PGAS_SHMEM_DEFINE_STATUS(NAME##_sum_inscan, (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems), \
                           scan(team, dest, source, nelems, true);)                                                \
  PGAS_SHMEM_DEFINE_STATUS(NAME##_sum_exscan, (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems), \
                           scan(team, dest, source, nelems, false);)

#include "pgas/compat/types.inc"

PGAS_SHMEM_MOVES(void, broadcastmem, collectmem, fcollectmem, alltoallmem, alltoallsmem, to<1>, from<1>)

}  // extern "C"
