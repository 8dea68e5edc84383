// shmem.h: collectives of teams, and of the active sets of OpenSHMEM 1.4.
#include "pgas/collective.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <vector>

#include "host/compat/shmem/define_function.hpp"
#include "pgas/rma.hpp"

namespace {

using namespace pgas::compat;

/// The operations of pgas::op on long double.
struct long_double_sum {
  long double operator()(long double a, long double b) const { return a + b; }
};
struct long_double_product {
  long double operator()(long double a, long double b) const { return a * b; }
};
struct long_double_min {
  long double operator()(long double a, long double b) const { return b < a || b != b ? b : a; }
};
struct long_double_max {
  long double operator()(long double a, long double b) const { return a < b || b != b ? b : a; }
};

/// Collective over `of`: combines the elements of members 0 to end - 1 in their order into this member's `dst`; zeros
/// where `end` is 0. In place: `dst == src`. Each member gets the elements of the others between two barriers.
template <class Op>
void host_reduce(class pgas::world& w, const pgas::team& of, long double* dst, const long double* src,
                 std::size_t count, int end, Op op) {
  std::vector<long double> result(count);
  std::vector<long double> theirs(count);
  pgas::barrier(of);
  for (int pe = 0; pe < end; ++pe) {
    pgas::get(w, (pe == 0 ? result : theirs).data(), src, count, of.world_pe(pe));
    for (std::size_t i = 0; pe > 0 && i < count; ++i) result[i] = op(result[i], theirs[i]);
  }
  pgas::barrier(of);
  pgas::put(w, dst, result.data(), count, w.my_pe());
}

/// The operations by their names in OpenSHMEM, and their forms for long double.
struct reduce_and {
  using type = pgas::op::bit_and;
};
struct reduce_or {
  using type = pgas::op::bit_or;
};
struct reduce_xor {
  using type = pgas::op::bit_xor;
};
struct reduce_min {
  using type = pgas::op::min;
  using of_long_double = long_double_min;
};
struct reduce_max {
  using type = pgas::op::max;
  using of_long_double = long_double_max;
};
struct reduce_sum {
  using type = pgas::op::sum;
  using of_long_double = long_double_sum;
};
struct reduce_prod {
  using type = pgas::op::prod;
  using of_long_double = long_double_product;
};

template <class Op, class T>
void reduce_to_all(const pgas::team& of, T* dest, const T* source, std::size_t count) {
  if constexpr (std::is_same_v<T, long double>)
    host_reduce(library().world(), of, symmetric(dest), symmetric(source), count, of.n_pes(),
                typename Op::of_long_double{});
  else
    pgas::reduce(of, symmetric(dest), symmetric(source), count, typename Op::type{});
}

template <class T>
void scan(shmem_team_t team, T* dest, const T* source, std::size_t count, bool inclusive) {
  const pgas::team& of = library().team_of(team);
  if constexpr (std::is_same_v<T, long double>)
    host_reduce(library().world(), of, symmetric(dest), symmetric(source), count, of.my_pe() + (inclusive ? 1 : 0),
                long_double_sum{});
  else if (inclusive)
    pgas::inclusive_scan(of, symmetric(dest), symmetric(source), count, pgas::op::sum{});
  else
    pgas::exclusive_scan(of, symmetric(dest), symmetric(source), count, pgas::op::sum{});
}

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

// Of active sets.
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

PGAS_SHMEM_MOVES(void, broadcastmem, collectmem, fcollectmem, alltoallmem, alltoallsmem, to<1>, from<1>)

}  // extern "C"
