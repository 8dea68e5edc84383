/// @file
/// Reductions: everyone's elements combined, on everyone (reduce), or a block of them on each (reducescatter).
#pragma once

#include "pgas/compat/nvshmem/sides.h"
#include "pgas/compat/nvshmem/team_view.h"

// KIND is the name after the operation; HOST_OP names the operation on both sides.
#define PGAS_NVSHMEM_FOLD(KIND, COLLECTIVE, NAME, TYPE, OP, HOST_OP)                                                \
  PGAS_NVSHMEM_FN int nvshmem_##NAME##OP##KIND(nvshmem_team_t team, TYPE* dest, const TYPE* src, size_t nreduce) {  \
    PGAS_NVSHMEM_SIDES(PGAS_NVSHMEM_WITH_TEAM(team, pgas::COLLECTIVE(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_TEAM(team), \
                                                                     dest, src, nreduce, pgas::op::HOST_OP{})),     \
                       pgas::compat::combine(pgas::compat::at_once(), pgas::compat::collective::COLLECTIVE,         \
                                             pgas::compat::reduction::HOST_OP, team, dest, src, nreduce));          \
  }                                                                                                                 \
  PGAS_NVSHMEM_GROUP_FOLD(KIND, COLLECTIVE, NAME, TYPE, OP, HOST_OP, warp)                                          \
  PGAS_NVSHMEM_GROUP_FOLD(KIND, COLLECTIVE, NAME, TYPE, OP, HOST_OP, block)
#define PGAS_NVSHMEM_GROUP_FOLD(KIND, COLLECTIVE, NAME, TYPE, OP, HOST_OP, SCOPE)                                    \
  PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN int nvshmemx_##NAME##OP##KIND##_##SCOPE(                           \
      nvshmem_team_t team, TYPE* dest, const TYPE* src, size_t nreduce) {                                            \
    return PGAS_NVSHMEM_WITH_TEAM(                                                                                   \
        team, pgas::COLLECTIVE(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_##SCOPE, PGAS_NVSHMEM_TEAM(team), dest, src, \
                               nreduce, pgas::op::HOST_OP{}));                                                       \
  })
#define PGAS_NVSHMEM_FOLDS(NAME, TYPE, OP, HOST_OP)           \
  PGAS_NVSHMEM_FOLD(_reduce, reduce, NAME, TYPE, OP, HOST_OP) \
  PGAS_NVSHMEM_FOLD(_reducescatter, reduce_scatter, NAME, TYPE, OP, HOST_OP)

#include "pgas/compat/nvshmem/folds.inc"

#undef PGAS_NVSHMEM_FOLD
#undef PGAS_NVSHMEM_GROUP_FOLD

#if defined(PGAS_NVSHMEM_ON_DEVICE)

/// Of two pairs (value, place) the one with the larger value; of equal values the one with the smaller place.
struct pgas_nvshmem_maxloc {
  PGAS_NVSHMEM_FN double2 operator()(const double2& a, const double2& b) const {
    return b.x > a.x || (b.x == a.x && b.y < a.y) ? b : a;
  }
};

/// The largest of the members' first numbers, with the second number of the member that has it.
PGAS_NVSHMEM_DEVICE_FN int nvshmemx_double2_maxloc_reduce_block(nvshmem_team_t team, double2* dest, const double2* src,
                                                                size_t nreduce) {
  return PGAS_NVSHMEM_WITH_TEAM(team, pgas::reduce(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_block,
                                                   PGAS_NVSHMEM_TEAM(team), dest, src, nreduce, pgas_nvshmem_maxloc{}));
}

#endif
