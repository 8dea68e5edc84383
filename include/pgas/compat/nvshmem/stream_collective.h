/// @file
/// Collectives that the host enqueues on a CUDA stream.
#pragma once

#include "pgas/compat/nvshmem/host_values.h"
#include "pgas/compat/nvshmem/types.h"

inline void nvshmemx_barrier_all_on_stream(cudaStream_t stream) {
  pgas_nvshmem_barrier_all(pgas::compat::on_stream(stream), pgas::compat::collective::barrier);
}
inline int nvshmemx_barrier_on_stream(nvshmem_team_t team, cudaStream_t stream) {
  return pgas::compat::synchronize(pgas::compat::on_stream(stream), pgas::compat::collective::barrier, team);
}
inline void nvshmemx_sync_all_on_stream(cudaStream_t stream) {
  pgas_nvshmem_barrier_all(pgas::compat::on_stream(stream), pgas::compat::collective::sync);
}
inline int nvshmemx_team_sync_on_stream(nvshmem_team_t team, cudaStream_t stream) {
  return pgas::compat::synchronize(pgas::compat::on_stream(stream), pgas::compat::collective::sync, team);
}

// ---- data moved ----

#define PGAS_NVSHMEM_GATHER(FUNCTION, OP, TYPE)                                                                        \
  inline int nvshmemx_##FUNCTION##_on_stream(nvshmem_team_t team, TYPE* dest, const TYPE* src, size_t nelems,          \
                                             cudaStream_t stream) {                                                    \
    return pgas::compat::move(pgas::compat::on_stream(stream), pgas::compat::collective::OP, team, dest, src, nelems); \
  }
#define PGAS_NVSHMEM_BROADCAST(FUNCTION, TYPE)                                                                       \
  inline int nvshmemx_##FUNCTION##_on_stream(nvshmem_team_t team, TYPE* dest, const TYPE* src, size_t nelems,        \
                                             int PE_root, cudaStream_t stream) {                                     \
    return pgas::compat::move(pgas::compat::on_stream(stream), pgas::compat::collective::broadcast, team, dest, src, \
                              nelems, PE_root);                                                                      \
  }
#define PGAS_RMA_TYPE(NAME, TYPE)                      \
  PGAS_NVSHMEM_GATHER(NAME##_alltoall, alltoall, TYPE) \
  PGAS_NVSHMEM_GATHER(NAME##_fcollect, fcollect, TYPE) \
  PGAS_NVSHMEM_BROADCAST(NAME##_broadcast, TYPE)
#define PGAS_NVSHMEM_TYPES
#include "pgas/compat/types.inc"

PGAS_NVSHMEM_GATHER(alltoallmem, alltoall, void)
PGAS_NVSHMEM_GATHER(fcollectmem, fcollect, void)
PGAS_NVSHMEM_BROADCAST(broadcastmem, void)
#undef PGAS_NVSHMEM_GATHER
#undef PGAS_NVSHMEM_BROADCAST

// ---- data combined ----

#define PGAS_NVSHMEM_REDUCTIONS(NAME, TYPE, OP, HOST_OP)                                                              \
  inline int nvshmemx_##NAME##OP##_reduce_on_stream(nvshmem_team_t team, TYPE* dest, const TYPE* src, size_t nreduce, \
                                                    cudaStream_t stream) {                                            \
    return pgas::compat::combine(pgas::compat::on_stream(stream), pgas::compat::collective::reduce,                   \
                                 pgas::compat::reduction::HOST_OP, team, dest, src, nreduce);                         \
  }                                                                                                                   \
  inline int nvshmemx_##NAME##OP##_reducescatter_on_stream(nvshmem_team_t team, TYPE* dest, const TYPE* src,          \
                                                           size_t nreduce, cudaStream_t stream) {                     \
    return pgas::compat::combine(pgas::compat::on_stream(stream), pgas::compat::collective::reduce_scatter,           \
                                 pgas::compat::reduction::HOST_OP, team, dest, src, nreduce);                         \
  }
#include "pgas/compat/nvshmem/reductions.inc"
