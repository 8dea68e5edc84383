/// @file
/// OpenSHMEM: teams and contexts.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

PGAS_SHMEM_DECLARE(int, team_my_pe, (shmem_team_t team))
PGAS_SHMEM_DECLARE(int, team_n_pes, (shmem_team_t team))
PGAS_SHMEM_DECLARE(int, team_translate_pe, (shmem_team_t src_team, int src_pe, shmem_team_t dest_team))
PGAS_SHMEM_DECLARE(int, team_get_config, (shmem_team_t team, long config_mask, shmem_team_config_t* config))
PGAS_SHMEM_DECLARE(void*, team_ptr, (shmem_team_t team, const void* dest, int pe))

/// Create teams. Collective over the parent.
PGAS_SHMEM_DECLARE(int, team_split_strided,
                   (shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t* config,
                    long config_mask, shmem_team_t* new_team))
PGAS_SHMEM_DECLARE(int, team_split_2d,
                   (shmem_team_t parent_team, int xrange, const shmem_team_config_t* xaxis_config, long xaxis_mask,
                    shmem_team_t* xaxis_team, const shmem_team_config_t* yaxis_config, long yaxis_mask,
                    shmem_team_t* yaxis_team))
/// Collective over the team: destroys the team and its contexts.
PGAS_SHMEM_DECLARE(void, team_destroy, (shmem_team_t team))

/// Operations on a context of a team take the team's PE numbers. All contexts of a PE share one order of operations. So
/// the options of contexts have no effect, and completing the operations of one context completes the operations of all
/// contexts.
PGAS_SHMEM_DECLARE(int, ctx_create, (long options, shmem_ctx_t* ctx))
PGAS_SHMEM_DECLARE(int, team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t* ctx))
PGAS_SHMEM_DECLARE(int, ctx_get_team, (shmem_ctx_t ctx, shmem_team_t* team))
PGAS_SHMEM_DECLARE(void, ctx_destroy, (shmem_ctx_t ctx))
/// Hints, which are ignored.
PGAS_SHMEM_DECLARE(void, ctx_session_start,
                   (shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t* config, long config_mask))
PGAS_SHMEM_DECLARE(void, ctx_session_stop, (shmem_ctx_t ctx))

#ifdef __cplusplus
}
#endif
