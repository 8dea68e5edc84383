/// @file
/// Order and completion of what was sent before, and meeting points of teams.
#pragma once

#include "pgas/compat/nvshmem/host_device.h"
#include "pgas/compat/nvshmem/warpgroup.h"

PGAS_NVSHMEM_FN void nvshmem_fence(void) { PGAS_NVSHMEM_BODY(pgas::fence(PGAS_NVSHMEM_CONTEXT), pgas_nvshmem_fence()); }
PGAS_NVSHMEM_FN void nvshmem_quiet(void) {
  PGAS_NVSHMEM_BODY(pgas::quiet(PGAS_NVSHMEM_CONTEXT), pgas_nvshmem_quiet(pgas::compat::blocking()));
}

// The sources of earlier non-blocking puts may be written again. Operations have read them when they return; those of a
// group when its threads have met.
PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN void nvshmemx_flush(void){})
PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN void nvshmemx_flush_warp(void) { PGAS_NVSHMEM_GROUP_warp.sync(); })
PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN void nvshmemx_flush_block(void) { PGAS_NVSHMEM_GROUP_block.sync(); })

// Where hosts meet (and allocate, free, and call collectives), they wait before that for CUDA's legacy default stream:
// a cudaMemset() that was called before is done when peers go on. No other stream is looked at. A kernel in that stream
// that waits for what this PE does later is given up after PGAS_DEFAULT_STREAM_WAIT, with a warning.

// ---- all PEs ----

#define PGAS_NVSHMEM_MEET_ALL(OP)                                                                        \
  PGAS_NVSHMEM_FN void nvshmem_##OP##_all(void) {                                                        \
    PGAS_NVSHMEM_BODY(pgas::OP(PGAS_NVSHMEM_CONTEXT),                                                    \
                      pgas_nvshmem_barrier_all(pgas::compat::blocking(), pgas::compat::collective::OP)); \
  }                                                                                                      \
  PGAS_NVSHMEM_GROUP_MEET_ALL(OP, warp)                                                                  \
  PGAS_NVSHMEM_GROUP_MEET_ALL(OP, block)
#define PGAS_NVSHMEM_GROUP_MEET_ALL(OP, SCOPE)                                             \
  PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN void nvshmemx_##OP##_all_##SCOPE(void) { \
    pgas::OP(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_##SCOPE);                            \
  })

PGAS_NVSHMEM_MEET_ALL(barrier)
PGAS_NVSHMEM_MEET_ALL(sync)
#undef PGAS_NVSHMEM_MEET_ALL
#undef PGAS_NVSHMEM_GROUP_MEET_ALL

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

/// The name that OpenSHMEM has for it.
PGAS_NVSHMEM_FN int nvshmem_sync(nvshmem_team_t team) { return nvshmem_team_sync(team); }
