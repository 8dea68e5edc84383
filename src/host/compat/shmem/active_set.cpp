// shmem.h: collectives of the active sets of OpenSHMEM 1.4.
#include <fmt/format.h>

#include <cstddef>

#include "host/compat/shmem/define_function.hpp"
#include "host/compat/shmem/reduce_by_name.hpp"
#include "pgas/collective.hpp"
#include "pgas/rma.hpp"

namespace {

using namespace pgas::compat;

/// Broadcast of an active set. Unlike a team's broadcast, the broadcast of an active set does not change the root's own
/// `dest`. The root puts the data, and a barrier follows.
template <class T>
void broadcast_except_root(const pgas::team& members, T* dest, const T* source, std::size_t count, int root) {
  if (root < 0 || root >= members.n_pes())
    throw pgas::error(pgas::code::pe_out_of_range,
                      fmt::format("broadcast: PE_root is {}, and the active set has {} PEs", root, members.n_pes()),
                      root);
  class pgas::world& w = library().world();
  for (int pe = 0; members.my_pe() == root && pe < members.n_pes(); ++pe)
    if (pe != root) pgas::put_nbi(w, dest, source, count, members.world_pe(pe));
  pgas::barrier(members);
}

std::size_t count_of(int nreduce) {
  if (nreduce < 0) throw pgas::error(pgas::code::invalid_argument, fmt::format("nreduce is {}", nreduce));
  return static_cast<std::size_t>(nreduce);
}

}  // namespace

extern "C" {

#define PGAS_SHMEM_SET int PE_start, int logPE_stride, int PE_size, long *
#define PGAS_SHMEM_TEAM library().active_set(PE_start, logPE_stride, PE_size)

PGAS_SHMEM_DEFINE(void, barrier, (PGAS_SHMEM_SET), pgas::barrier(PGAS_SHMEM_TEAM);)
PGAS_SHMEM_DEFINE(void, sync, (PGAS_SHMEM_SET), pgas::sync(PGAS_SHMEM_TEAM);)

#define PGAS_SHMEM_SIZED(BITS, BYTES)                                                                            \
  PGAS_SHMEM_DEFINE(                                                                                             \
      void, broadcast##BITS, (void* dest, const void* source, size_t nelems, int PE_root, PGAS_SHMEM_SET),       \
      broadcast_except_root(PGAS_SHMEM_TEAM, to<BYTES>(symmetric(dest)), from<BYTES>(source), nelems, PE_root);) \
  PGAS_SHMEM_DEFINE(                                                                                             \
      void, collect##BITS, (void* dest, const void* source, size_t nelems, PGAS_SHMEM_SET),                      \
      pgas::collect(PGAS_SHMEM_TEAM, to<BYTES>(symmetric(dest)), from<BYTES>(symmetric(source)), nelems);)       \
  PGAS_SHMEM_DEFINE(                                                                                             \
      void, fcollect##BITS, (void* dest, const void* source, size_t nelems, PGAS_SHMEM_SET),                     \
      pgas::fcollect(PGAS_SHMEM_TEAM, to<BYTES>(symmetric(dest)), from<BYTES>(symmetric(source)), nelems);)      \
  PGAS_SHMEM_DEFINE(                                                                                             \
      void, alltoall##BITS, (void* dest, const void* source, size_t nelems, PGAS_SHMEM_SET),                     \
      pgas::alltoall(PGAS_SHMEM_TEAM, to<BYTES>(symmetric(dest)), from<BYTES>(symmetric(source)), nelems);)      \
  PGAS_SHMEM_DEFINE(                                                                                             \
      void, alltoalls##BITS,                                                                                     \
      (void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, PGAS_SHMEM_SET),             \
      pgas::alltoalls(PGAS_SHMEM_TEAM, to<BYTES>(symmetric(dest)), from<BYTES>(symmetric(source)), dst, sst, nelems);)
PGAS_SHMEM_SIZED(32, 4)
PGAS_SHMEM_SIZED(64, 8)

#define PGAS_SHMEM_TO_ALL(NAME, TYPE, OP)                                                                        \
  PGAS_SHMEM_DEFINE(                                                                                             \
      void, NAME##_##OP##_to_all,                                                                                \
      (TYPE * dest, const TYPE* source, int nreduce, int PE_start, int logPE_stride, int PE_size, TYPE*, long*), \
      reduce_to_all<reduce_##OP>(PGAS_SHMEM_TEAM, dest, source, count_of(nreduce));)
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

#include "pgas/compat/types.inc"

}  // extern "C"
