/// @file
/// Collectives: barrier and sync, broadcast, fcollect (all-gather) and alltoall, reduce and reducescatter. Collectives
/// on a stream are in stream.h.
#pragma once

#include "pgas/compat/nvshmem/host_device.h"

// Barriers, allocations and collectives that the host calls first wait for CUDA's legacy default stream, so an earlier
// cudaMemset() is complete when peers continue. Barriers, allocations and collectives do not wait for other streams.
// The wait ends after PGAS_DEFAULT_STREAM_WAIT with a warning, because a kernel in that stream can wait for later work
// of this PE.

// ---- all PEs ----

#define PGAS_NVSHMEM_BARRIER_ALL(OP)                                                                     \
  PGAS_NVSHMEM_FN void nvshmem_##OP##_all(void) {                                                        \
    PGAS_NVSHMEM_BODY(pgas::OP(PGAS_NVSHMEM_CONTEXT),                                                    \
                      pgas_nvshmem_barrier_all(pgas::compat::blocking(), pgas::compat::collective::OP)); \
  }                                                                                                      \
  PGAS_NVSHMEM_GROUP_BARRIER_ALL(OP, warp)                                                               \
  PGAS_NVSHMEM_GROUP_BARRIER_ALL(OP, block)
#define PGAS_NVSHMEM_GROUP_BARRIER_ALL(OP, SCOPE)                                          \
  PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN void nvshmemx_##OP##_all_##SCOPE(void) { \
    pgas::OP(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_##SCOPE);                            \
  })

PGAS_NVSHMEM_BARRIER_ALL(barrier)
PGAS_NVSHMEM_BARRIER_ALL(sync)
#undef PGAS_NVSHMEM_BARRIER_ALL
#undef PGAS_NVSHMEM_GROUP_BARRIER_ALL

// ---- teams ----

#define PGAS_NVSHMEM_BARRIER(FUNCTION, OP)                                                                      \
  PGAS_NVSHMEM_FN int nvshmem_##FUNCTION(nvshmem_team_t team) {                                                 \
    PGAS_NVSHMEM_BODY(PGAS_NVSHMEM_WITH_TEAM(team, pgas::OP(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_TEAM(team))),    \
                      pgas::compat::synchronize(pgas::compat::blocking(), pgas::compat::collective::OP, team)); \
  }                                                                                                             \
  PGAS_NVSHMEM_GROUP_BARRIER(FUNCTION, OP, warp)                                                                \
  PGAS_NVSHMEM_GROUP_BARRIER(FUNCTION, OP, block)
#define PGAS_NVSHMEM_GROUP_BARRIER(FUNCTION, OP, SCOPE)                                                    \
  PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN int nvshmemx_##FUNCTION##_##SCOPE(nvshmem_team_t team) { \
    return PGAS_NVSHMEM_WITH_TEAM(                                                                         \
        team, pgas::OP(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_##SCOPE, PGAS_NVSHMEM_TEAM(team)));        \
  })

PGAS_NVSHMEM_BARRIER(barrier, barrier)
PGAS_NVSHMEM_BARRIER(team_sync, sync)
PGAS_NVSHMEM_GROUP_BARRIER(barrier, barrier, warpgroup)
#undef PGAS_NVSHMEM_BARRIER
#undef PGAS_NVSHMEM_GROUP_BARRIER

/// OpenSHMEM's name of the function.
PGAS_NVSHMEM_FN int nvshmem_sync(nvshmem_team_t team) { return nvshmem_team_sync(team); }

// ---- broadcast, fcollect, alltoall ----

// ELEMENTS is a list in parentheses: the arguments, cast to the element type.
#define PGAS_NVSHMEM_LIST(...) __VA_ARGS__

#define PGAS_NVSHMEM_GATHER(OP, FUNCTION, TYPE, ELEMENTS)                                                            \
  PGAS_NVSHMEM_FN int nvshmem_##FUNCTION(nvshmem_team_t team, TYPE* dest, const TYPE* src, size_t nelems) {          \
    PGAS_NVSHMEM_BODY(                                                                                               \
        PGAS_NVSHMEM_WITH_TEAM(team,                                                                                 \
                               pgas::OP(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_TEAM(team), PGAS_NVSHMEM_LIST ELEMENTS)), \
        pgas::compat::move(pgas::compat::blocking(), pgas::compat::collective::OP, team, dest, src, nelems));        \
  }                                                                                                                  \
  PGAS_NVSHMEM_GROUP_GATHER(OP, FUNCTION, TYPE, ELEMENTS, warp)                                                      \
  PGAS_NVSHMEM_GROUP_GATHER(OP, FUNCTION, TYPE, ELEMENTS, block)
#define PGAS_NVSHMEM_GROUP_GATHER(OP, FUNCTION, TYPE, ELEMENTS, SCOPE)                                                \
  PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN int nvshmemx_##FUNCTION##_##SCOPE(nvshmem_team_t team, TYPE* dest,  \
                                                                                    const TYPE* src, size_t nelems) { \
    return PGAS_NVSHMEM_WITH_TEAM(team, pgas::OP(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_##SCOPE,                    \
                                                 PGAS_NVSHMEM_TEAM(team), PGAS_NVSHMEM_LIST ELEMENTS));               \
  })

#define PGAS_NVSHMEM_BROADCAST(FUNCTION, TYPE, ELEMENTS)                                                            \
  PGAS_NVSHMEM_FN int nvshmem_##FUNCTION(nvshmem_team_t team, TYPE* dest, const TYPE* src, size_t nelems,           \
                                         int PE_root) {                                                             \
    PGAS_NVSHMEM_BODY(PGAS_NVSHMEM_WITH_TEAM(team, pgas::broadcast(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_TEAM(team),   \
                                                                   PGAS_NVSHMEM_LIST ELEMENTS, PE_root)),           \
                      pgas::compat::move(pgas::compat::blocking(), pgas::compat::collective::broadcast, team, dest, \
                                         src, nelems, PE_root));                                                    \
  }                                                                                                                 \
  PGAS_NVSHMEM_GROUP_BROADCAST(FUNCTION, TYPE, ELEMENTS, warp)                                                      \
  PGAS_NVSHMEM_GROUP_BROADCAST(FUNCTION, TYPE, ELEMENTS, block)
#define PGAS_NVSHMEM_GROUP_BROADCAST(FUNCTION, TYPE, ELEMENTS, SCOPE)                                    \
  PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN int nvshmemx_##FUNCTION##_##SCOPE(                     \
      nvshmem_team_t team, TYPE* dest, const TYPE* src, size_t nelems, int PE_root) {                    \
    return PGAS_NVSHMEM_WITH_TEAM(                                                                       \
        team, pgas::broadcast(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_##SCOPE, PGAS_NVSHMEM_TEAM(team), \
                              PGAS_NVSHMEM_LIST ELEMENTS, PE_root));                                     \
  })

#define PGAS_RMA_TYPE(NAME, TYPE)                                           \
  PGAS_NVSHMEM_GATHER(alltoall, NAME##_alltoall, TYPE, (dest, src, nelems)) \
  PGAS_NVSHMEM_GATHER(fcollect, NAME##_fcollect, TYPE, (dest, src, nelems)) \
  PGAS_NVSHMEM_BROADCAST(NAME##_broadcast, TYPE, (dest, src, nelems))
#define PGAS_NVSHMEM_TYPES
#include "pgas/compat/types.inc"

#define PGAS_NVSHMEM_BYTES (pgas_nvshmem_element<1>::at(dest), pgas_nvshmem_element<1>::at(src), nelems)
PGAS_NVSHMEM_GATHER(alltoall, alltoallmem, void, PGAS_NVSHMEM_BYTES)
PGAS_NVSHMEM_GATHER(fcollect, fcollectmem, void, PGAS_NVSHMEM_BYTES)
PGAS_NVSHMEM_BROADCAST(broadcastmem, void, PGAS_NVSHMEM_BYTES)
#undef PGAS_NVSHMEM_BYTES

#undef PGAS_NVSHMEM_LIST
#undef PGAS_NVSHMEM_GATHER
#undef PGAS_NVSHMEM_GROUP_GATHER
#undef PGAS_NVSHMEM_BROADCAST
#undef PGAS_NVSHMEM_GROUP_BROADCAST

// ---- reductions: every member receives the result (reduce), or one block of the result (reducescatter) ----

// KIND is the end of the function's name; HOST_OP is the name of the operation in pgas and in host_abi.h.
#define PGAS_NVSHMEM_REDUCE(KIND, COLLECTIVE, NAME, TYPE, OP, HOST_OP)                                             \
  PGAS_NVSHMEM_FN int nvshmem_##NAME##OP##KIND(nvshmem_team_t team, TYPE* dest, const TYPE* src, size_t nreduce) { \
    PGAS_NVSHMEM_BODY(PGAS_NVSHMEM_WITH_TEAM(team, pgas::COLLECTIVE(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_TEAM(team), \
                                                                    dest, src, nreduce, pgas::op::HOST_OP{})),     \
                      pgas::compat::combine(pgas::compat::blocking(), pgas::compat::collective::COLLECTIVE,        \
                                            pgas::compat::reduction::HOST_OP, team, dest, src, nreduce));          \
  }                                                                                                                \
  PGAS_NVSHMEM_GROUP_REDUCE(KIND, COLLECTIVE, NAME, TYPE, OP, HOST_OP, warp)                                       \
  PGAS_NVSHMEM_GROUP_REDUCE(KIND, COLLECTIVE, NAME, TYPE, OP, HOST_OP, block)
#define PGAS_NVSHMEM_GROUP_REDUCE(KIND, COLLECTIVE, NAME, TYPE, OP, HOST_OP, SCOPE)                                  \
  PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN int nvshmemx_##NAME##OP##KIND##_##SCOPE(                           \
      nvshmem_team_t team, TYPE* dest, const TYPE* src, size_t nreduce) {                                            \
    return PGAS_NVSHMEM_WITH_TEAM(                                                                                   \
        team, pgas::COLLECTIVE(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_##SCOPE, PGAS_NVSHMEM_TEAM(team), dest, src, \
                               nreduce, pgas::op::HOST_OP{}));                                                       \
  })
#define PGAS_NVSHMEM_REDUCTIONS(NAME, TYPE, OP, HOST_OP)        \
  PGAS_NVSHMEM_REDUCE(_reduce, reduce, NAME, TYPE, OP, HOST_OP) \
  PGAS_NVSHMEM_REDUCE(_reducescatter, reduce_scatter, NAME, TYPE, OP, HOST_OP)

#include "pgas/compat/nvshmem/reductions.inc"

#undef PGAS_NVSHMEM_REDUCE
#undef PGAS_NVSHMEM_GROUP_REDUCE

#if defined(PGAS_NVSHMEM_ON_DEVICE)

/// Selects the pair (value, location) with the larger value. If the values are equal, selects the pair with the smaller
/// location.
struct pgas_nvshmem_maxloc {
  PGAS_NVSHMEM_INLINE double2 operator()(const double2& a, const double2& b) const {
    return b.x > a.x || (b.x == a.x && b.y < a.y) ? b : a;
  }
};

/// The maximum of the members' first numbers, together with the second number of the member that has the maximum.
PGAS_NVSHMEM_DEVICE_FN int nvshmemx_double2_maxloc_reduce_block(nvshmem_team_t team, double2* dest, const double2* src,
                                                                size_t nreduce) {
  return PGAS_NVSHMEM_WITH_TEAM(team, pgas::reduce(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_block,
                                                   PGAS_NVSHMEM_TEAM(team), dest, src, nreduce, pgas_nvshmem_maxloc{}));
}

#endif
