/// @file
/// Making teams. Host side; queries are in query.h.
///
/// *On return* an nvshmemx_status; `*new_team` is NVSHMEM_TEAM_INVALID on PEs that are not members, and where it fails.
#pragma once

#include "pgas/compat/nvshmem/types.h"

#pragma GCC visibility push(default)
extern "C" {

/// Collective over the parent: its members start, start + stride, ... A configuration is not needed.
int nvshmem_team_split_strided(nvshmem_team_t parent_team, int PE_start, int PE_stride, int PE_size,
                               const nvshmem_team_config_t* config, long config_mask, nvshmem_team_t* new_team);
/// Collective over the parent: rows of `xrange` members, and columns.
int nvshmem_team_split_2d(nvshmem_team_t parent_team, int xrange, const nvshmem_team_config_t* xaxis_config,
                          long xaxis_mask, nvshmem_team_t* xaxis_team, const nvshmem_team_config_t* yaxis_config,
                          long yaxis_mask, nvshmem_team_t* yaxis_team);
/// Collective over the team. NVSHMEM_TEAM_INVALID is ignored.
void nvshmem_team_destroy(nvshmem_team_t team);
/// The configuration that the team was made with.
void nvshmem_team_get_config(nvshmem_team_t team, nvshmem_team_config_t* config);

/// A unique id for nvshmemx_team_init(): one member gets it and sends it to the others.
int nvshmemx_team_get_uniqueid(nvshmemx_team_uniqueid_t* uniqueid);
/// Collective over the `npes` PEs that have the same unique id in their configurations; each gives its own number.
int nvshmemx_team_init(nvshmem_team_t* team, nvshmem_team_config_t* config, long config_mask, int npes,
                       int pe_idx_in_team);

}  // extern "C"
#pragma GCC visibility pop
