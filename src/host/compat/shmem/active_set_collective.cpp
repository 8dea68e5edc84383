// shmem.h: collectives of active sets.
#include <fmt/format.h>

#include "host/compat/common/long_double_reduce.hpp"
#include "host/compat/shmem/define_function.hpp"
#include "pgas/collective.hpp"

namespace {

using namespace pgas::compat;

/// Broadcast of an active set: unlike a team's it leaves the root's own `dest` unchanged. The root puts, then a
/// barrier.
template <class T>
void broadcast_except_root(const pgas::team& of, T* dest, const T* source, std::size_t count, int root) {
  if (root < 0 || root >= of.n_pes())
    throw pgas::error(pgas::code::pe_out_of_range,
                      fmt::format("broadcast: PE_root is {}, and the active set has {} PEs", root, of.n_pes()), root);
  class pgas::world& w = library().world();
  for (int pe = 0; of.my_pe() == root && pe < of.n_pes(); ++pe)
    if (pe != root) pgas::put_nbi(w, dest, source, count, of.world_pe(pe));
  pgas::barrier(of);
}

std::size_t count_of(int nreduce) {
  if (nreduce < 0) throw pgas::error(pgas::code::invalid_argument, fmt::format("nreduce is {}", nreduce));
  return static_cast<std::size_t>(nreduce);
}

template <class Op, class OfLongDouble, class T>
void to_all(const pgas::team& of, T* dest, const T* source, std::size_t count) {
  if constexpr (std::is_same_v<T, long double>)
    host_reduce(library().world(), of, symmetric(dest), symmetric(source), count, of.n_pes(), OfLongDouble{});
  else
    pgas::reduce(of, symmetric(dest), symmetric(source), count, Op{});
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

#define PGAS_SHMEM_TO_ALL(NAME, TYPE, NAME_OF_OP, OP, OF_LONG_DOUBLE)                                            \
  PGAS_SHMEM_DEFINE(                                                                                             \
      void, NAME##_##NAME_OF_OP##_to_all,                                                                        \
      (TYPE * dest, const TYPE* source, int nreduce, int PE_start, int logPE_stride, int PE_size, TYPE*, long*), \
      to_all<pgas::op::OP, OF_LONG_DOUBLE>(PGAS_SHMEM_TEAM, dest, source, count_of(nreduce));)
#define PGAS_SET_BITS_TYPE(NAME, TYPE)              \
  PGAS_SHMEM_TO_ALL(NAME, TYPE, and, bit_and, void) \
  PGAS_SHMEM_TO_ALL(NAME, TYPE, or, bit_or, void)   \
  PGAS_SHMEM_TO_ALL(NAME, TYPE, xor, bit_xor, void)
#define PGAS_SET_ORDER_TYPE(NAME, TYPE)                    \
  PGAS_SHMEM_TO_ALL(NAME, TYPE, min, min, long_double_min) \
  PGAS_SHMEM_TO_ALL(NAME, TYPE, max, max, long_double_max)
#define PGAS_SET_SUM_TYPE(NAME, TYPE)                      \
  PGAS_SHMEM_TO_ALL(NAME, TYPE, sum, sum, long_double_sum) \
  PGAS_SHMEM_TO_ALL(NAME, TYPE, prod, prod, long_double_product)
#include "pgas/compat/types.inc"

}  // extern "C"
