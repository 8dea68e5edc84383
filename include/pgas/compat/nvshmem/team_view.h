/// @file
/// A team's number as kernels look it up.
#pragma once

#include "pgas/compat/nvshmem/sides.h"

#if defined(PGAS_NVSHMEM_ON_DEVICE)

/// Whether there is a team with this number.
PGAS_NVSHMEM_DEVICE_FN bool pgas_nvshmem_has_team(nvshmem_team_t team) {
  return team >= 0 && team < pgas_nvshmem_max_teams && pgas_nvshmem_device_state.teams[team].n_pes() != 0;
}

/// The team, if there is one.
#define PGAS_NVSHMEM_TEAM(TEAM) pgas_nvshmem_device_state.teams[TEAM]

/// Carries out a collective of a team; the value is its status.
#define PGAS_NVSHMEM_WITH_TEAM(TEAM, ...) \
  (pgas_nvshmem_has_team(TEAM) ? ((__VA_ARGS__), int{NVSHMEMX_SUCCESS}) : int{NVSHMEMX_ERROR_INVALID_VALUE})

#endif
