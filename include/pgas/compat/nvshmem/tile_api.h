/// @file
/// NVSHMEM's tile operations under NVSHMEM's names, for kernels: by a thread, a warp, a warpgroup and a block. `tile.h`
/// documents the operations. The template arguments are the types of source, destination and coordinates, and the
/// algorithm.
#pragma once

#include "pgas/compat/nvshmem.h"

#if defined(__CUDACC__) && !defined(NVSHMEM_HOSTLIB_ONLY)

#include "pgas/compat/nvshmem/tile.h"

namespace nvshmemx {

// host_device.h explains pgas_if_called.
#define PGAS_NVSHMEM_TILE_FN(ALGORITHM)                                                                         \
  template <typename src_tensor_t, typename dst_tensor_t, typename tuple_t, nvshmemx::ALGORITHM pgas_algorithm, \
            int pgas_if_called = 0>                                                                             \
  __device__ PGAS_INLINED
#define PGAS_NVSHMEM_TILES src_tensor_t src_tile, dst_tensor_t dst_tile, tuple_t first_coord, tuple_t end_coord
/// Calls a collective if a team with this number exists.
#define PGAS_NVSHMEM_TILE_COLLECTIVE(FUNCTION, GROUP, ...)                                                  \
  (pgas_nvshmem_has_team(team_number) ? FUNCTION(pgas_nvshmem_context<pgas_if_called>(), GROUP,             \
                                                 pgas_nvshmem_device_state.teams[team_number], __VA_ARGS__) \
                                      : int{NVSHMEMX_ERROR_INVALID_VALUE})

#define PGAS_NVSHMEM_TILE_COPY(OP, SCOPE, GROUP)                                                                      \
  PGAS_NVSHMEM_TILE_FN(tile_algo_t) int tile_##OP##SCOPE(PGAS_NVSHMEM_TILES, int pe, uint64_t tile_flag) {            \
    return pgas::compat::tile_##OP<pgas_algorithm>(pgas_nvshmem_context<pgas_if_called>(), GROUP, src_tile, dst_tile, \
                                                   first_coord, end_coord, pe, tile_flag);                            \
  }
#define PGAS_NVSHMEM_TILE_GATHER(OP, SCOPE, GROUP)                                                          \
  PGAS_NVSHMEM_TILE_FN(tile_coll_algo_t)                                                                    \
  int tile_##OP##SCOPE(nvshmem_team_t team_number, PGAS_NVSHMEM_TILES, uint64_t tile_flag) {                \
    return PGAS_NVSHMEM_TILE_COLLECTIVE(pgas::compat::tile_##OP<pgas_algorithm>, GROUP, src_tile, dst_tile, \
                                        first_coord, end_coord, tile_flag);                                 \
  }
#define PGAS_NVSHMEM_TILE_REDUCE(OP, SCOPE, GROUP)                                                                  \
  PGAS_NVSHMEM_TILE_FN(tile_coll_algo_t)                                                                            \
  int tile_##OP##_reduce##SCOPE(nvshmem_team_t team_number, PGAS_NVSHMEM_TILES, int root_pe, uint64_t tile_flag) {  \
    return PGAS_NVSHMEM_TILE_COLLECTIVE(pgas::compat::tile_reduce<pgas_algorithm>, GROUP, pgas::op::OP{}, src_tile, \
                                        dst_tile, first_coord, end_coord, root_pe, tile_flag);                      \
  }                                                                                                                 \
  PGAS_NVSHMEM_TILE_FN(tile_coll_algo_t)                                                                            \
  int tile_##OP##_reduce##SCOPE(nvshmem_team_t team_number, PGAS_NVSHMEM_TILES, uint64_t tile_flag) {               \
    return PGAS_NVSHMEM_TILE_COLLECTIVE(pgas::compat::tile_reduce<pgas_algorithm>, GROUP, pgas::op::OP{}, src_tile, \
                                        dst_tile, first_coord, end_coord, pgas::compat::no_root, tile_flag);        \
  }                                                                                                                 \
  PGAS_NVSHMEM_TILE_FN(tile_coll_algo_t)                                                                            \
  int tile_##OP##_rooted_reduce##SCOPE(nvshmem_team_t team_number, PGAS_NVSHMEM_TILES, int root_pe,                 \
                                       uint64_t tile_flag) {                                                        \
    return PGAS_NVSHMEM_TILE_COLLECTIVE(pgas::compat::tile_rooted_reduce<pgas_algorithm>, GROUP, pgas::op::OP{},    \
                                        src_tile, dst_tile, first_coord, end_coord, root_pe, tile_flag);            \
  }
#define PGAS_NVSHMEM_TILE_WAIT(SCOPE, GROUP)                                                                   \
  template <nvshmemx::tile_coll_algo_t pgas_algorithm, int pgas_if_called = 0>                                 \
  __device__ PGAS_INLINED int tile_collective_wait##SCOPE(nvshmem_team_t team_number, uint64_t tile_flag) {    \
    return PGAS_NVSHMEM_TILE_COLLECTIVE(pgas::compat::tile_collective_wait<pgas_algorithm>, GROUP, tile_flag); \
  }
#define PGAS_NVSHMEM_TILE_SCOPE(SCOPE, GROUP)       \
  PGAS_NVSHMEM_TILE_COPY(put, SCOPE, GROUP)         \
  PGAS_NVSHMEM_TILE_COPY(get, SCOPE, GROUP)         \
  PGAS_NVSHMEM_TILE_GATHER(broadcast, SCOPE, GROUP) \
  PGAS_NVSHMEM_TILE_GATHER(allgather, SCOPE, GROUP) \
  PGAS_NVSHMEM_TILE_REDUCE(sum, SCOPE, GROUP)       \
  PGAS_NVSHMEM_TILE_REDUCE(min, SCOPE, GROUP)       \
  PGAS_NVSHMEM_TILE_REDUCE(max, SCOPE, GROUP)       \
  PGAS_NVSHMEM_TILE_WAIT(SCOPE, GROUP)

PGAS_NVSHMEM_TILE_SCOPE(, pgas::this_thread{})
PGAS_NVSHMEM_TILE_SCOPE(_warp, pgas::this_warp(pgas::this_block()))
PGAS_NVSHMEM_TILE_SCOPE(_warpgroup, pgas::this_warpgroup(pgas::this_block()))
PGAS_NVSHMEM_TILE_SCOPE(_block, pgas::this_block())

#undef PGAS_NVSHMEM_TILE_FN
#undef PGAS_NVSHMEM_TILES
#undef PGAS_NVSHMEM_TILE_COLLECTIVE
#undef PGAS_NVSHMEM_TILE_COPY
#undef PGAS_NVSHMEM_TILE_GATHER
#undef PGAS_NVSHMEM_TILE_REDUCE
#undef PGAS_NVSHMEM_TILE_WAIT
#undef PGAS_NVSHMEM_TILE_SCOPE

}  // namespace nvshmemx

#endif
