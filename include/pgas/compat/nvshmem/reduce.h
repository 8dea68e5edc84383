/// @file
/// Reductions: the result on every member (reduce), or a block of it on each (reducescatter).
#pragma once

#include "pgas/compat/nvshmem/host_device.h"

// KIND is the end of the function's name; HOST_OP is the operation in pgas and in host_abi.h.
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

/// Of two pairs (value, location) the one with the larger value; of equal values the one with the smaller location.
struct pgas_nvshmem_maxloc {
  PGAS_NVSHMEM_FN double2 operator()(const double2& a, const double2& b) const {
    return b.x > a.x || (b.x == a.x && b.y < a.y) ? b : a;
  }
};

/// The maximum of the members' first numbers, with the second number of the same member.
PGAS_NVSHMEM_DEVICE_FN int nvshmemx_double2_maxloc_reduce_block(nvshmem_team_t team, double2* dest, const double2* src,
                                                                size_t nreduce) {
  return PGAS_NVSHMEM_WITH_TEAM(team, pgas::reduce(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_block,
                                                   PGAS_NVSHMEM_TEAM(team), dest, src, nreduce, pgas_nvshmem_maxloc{}));
}

#endif
