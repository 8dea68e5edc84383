/// @file
/// Collectives that move data: broadcast, fcollect (all-gather) and alltoall. Reductions are in reduce.h, collectives
/// on a stream in stream_collective.h.
#pragma once

#include "pgas/compat/nvshmem/host_device.h"

// ELEMENTS are the arguments cast to elements of a type, in parentheses.
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
