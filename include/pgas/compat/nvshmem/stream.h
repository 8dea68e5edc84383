/// @file
/// Operations that the host enqueues on a CUDA stream: copies, signals, waits, order, collectives.
#pragma once

#include "pgas/compat/nvshmem/host_abi.h"
#include "pgas/compat/nvshmem/types.h"

// ---- copies ----

// ARGUMENTS are the parameters before the stream. TYPE is void for copies by size and by bytes.
#define PGAS_NVSHMEM_COPY(FUNCTION, OP, TYPE, BYTES)                                                 \
  inline void nvshmemx_##FUNCTION##_on_stream(TYPE* dest, const TYPE* source, size_t nelems, int pe, \
                                              cudaStream_t cstrm) {                                  \
    pgas_nvshmem_##OP(pgas::compat::on_stream(cstrm), dest, source, {nelems, BYTES}, pe);            \
  }
#define PGAS_NVSHMEM_STRIDED(FUNCTION, OP, TYPE, BYTES)                                                     \
  inline void nvshmemx_##FUNCTION##_on_stream(TYPE* dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, \
                                              size_t nelems, int pe, cudaStream_t cstrm) {                  \
    pgas_nvshmem_##OP(pgas::compat::on_stream(cstrm), dest, source, dst, sst, {nelems, BYTES}, pe);         \
  }
#define PGAS_NVSHMEM_PUT_SIGNAL(FUNCTION, TYPE, BYTES)                                                               \
  inline void nvshmemx_##FUNCTION##_on_stream(TYPE* dest, const TYPE* source, size_t nelems, uint64_t* sig_addr,     \
                                              uint64_t signal, int sig_op, int pe, cudaStream_t cstrm) {             \
    pgas_nvshmem_put_signal(pgas::compat::on_stream(cstrm), dest, source, {nelems, BYTES}, sig_addr, signal, sig_op, \
                            pe);                                                                                     \
  }

#define PGAS_RMA_TYPE(NAME, TYPE)                                                                       \
  PGAS_NVSHMEM_COPY(NAME##_put, put, TYPE, sizeof(TYPE))                                                \
  PGAS_NVSHMEM_COPY(NAME##_put_nbi, put, TYPE, sizeof(TYPE))                                            \
  PGAS_NVSHMEM_COPY(NAME##_get, get, TYPE, sizeof(TYPE))                                                \
  PGAS_NVSHMEM_COPY(NAME##_get_nbi, get, TYPE, sizeof(TYPE))                                            \
  PGAS_NVSHMEM_STRIDED(NAME##_iput, iput, TYPE, sizeof(TYPE))                                           \
  PGAS_NVSHMEM_STRIDED(NAME##_iget, iget, TYPE, sizeof(TYPE))                                           \
  PGAS_NVSHMEM_PUT_SIGNAL(NAME##_put_signal, TYPE, sizeof(TYPE))                                        \
  PGAS_NVSHMEM_PUT_SIGNAL(NAME##_put_signal_nbi, TYPE, sizeof(TYPE))                                    \
  inline void nvshmemx_##NAME##_p_on_stream(TYPE* dest, const TYPE value, int pe, cudaStream_t cstrm) { \
    pgas_nvshmem_p(pgas::compat::on_stream(cstrm), dest, &value, sizeof(TYPE), pe);                     \
  }                                                                                                     \
  inline TYPE nvshmemx_##NAME##_g_on_stream(const TYPE* src, int pe, cudaStream_t cstrm) {              \
    return pgas::compat::read(pgas::compat::on_stream(cstrm), src, pe);                                 \
  }
#define PGAS_NVSHMEM_TYPES
#include "pgas/compat/types.inc"

#define PGAS_SIZED(BITS, BYTES)                            \
  PGAS_NVSHMEM_COPY(put##BITS, put, void, BYTES)           \
  PGAS_NVSHMEM_COPY(put##BITS##_nbi, put, void, BYTES)     \
  PGAS_NVSHMEM_COPY(get##BITS, get, void, BYTES)           \
  PGAS_NVSHMEM_COPY(get##BITS##_nbi, get, void, BYTES)     \
  PGAS_NVSHMEM_STRIDED(iput##BITS, iput, void, BYTES)      \
  PGAS_NVSHMEM_STRIDED(iget##BITS, iget, void, BYTES)      \
  PGAS_NVSHMEM_PUT_SIGNAL(put##BITS##_signal, void, BYTES) \
  PGAS_NVSHMEM_PUT_SIGNAL(put##BITS##_signal_nbi, void, BYTES)
#include "pgas/compat/types.inc"

PGAS_NVSHMEM_COPY(putmem, put, void, 1)
PGAS_NVSHMEM_COPY(putmem_nbi, put, void, 1)
PGAS_NVSHMEM_COPY(getmem, get, void, 1)
PGAS_NVSHMEM_COPY(getmem_nbi, get, void, 1)
PGAS_NVSHMEM_PUT_SIGNAL(putmem_signal, void, 1)
PGAS_NVSHMEM_PUT_SIGNAL(putmem_signal_nbi, void, 1)

#undef PGAS_NVSHMEM_COPY
#undef PGAS_NVSHMEM_STRIDED
#undef PGAS_NVSHMEM_PUT_SIGNAL

// ---- signals and waits ----

inline void nvshmemx_signal_op_on_stream(uint64_t* sig_addr, uint64_t signal, int sig_op, int pe, cudaStream_t cstrm) {
  pgas_nvshmem_signal_op(pgas::compat::on_stream(cstrm), sig_addr, signal, sig_op, pe);
}
inline void nvshmemx_signal_wait_until_on_stream(uint64_t* sig_addr, int cmp, uint64_t cmp_value,
                                                 cudaStream_t cstream) {
  pgas_nvshmem_wait_on_stream(pgas::compat::words_of(sig_addr, 1, nullptr, cmp, cmp_value), cstream);
}

#define PGAS_WAIT_TYPE(NAME, TYPE)                                                                                \
  inline void nvshmemx_##NAME##_wait_until_on_stream(TYPE* ivar, int cmp, TYPE cmp_value, cudaStream_t cstream) { \
    pgas_nvshmem_wait_on_stream(pgas::compat::words_of(ivar, 1, nullptr, cmp, cmp_value), cstream);               \
  }                                                                                                               \
  inline void nvshmemx_##NAME##_wait_until_all_on_stream(TYPE* ivars, size_t nelems, const int* status, int cmp,  \
                                                         TYPE cmp_value, cudaStream_t cstream) {                  \
    pgas_nvshmem_wait_on_stream(pgas::compat::words_of(ivars, nelems, status, cmp, cmp_value), cstream);          \
  }                                                                                                               \
  inline void nvshmemx_##NAME##_wait_until_all_vector_on_stream(TYPE* ivars, size_t nelems, const int* status,    \
                                                                int cmp, TYPE* cmp_value, cudaStream_t cstream) { \
    pgas_nvshmem_wait_on_stream(pgas::compat::words_of(ivars, nelems, status, cmp, cmp_value), cstream);          \
  }
#define PGAS_NVSHMEM_TYPES
#include "pgas/compat/types.inc"

// ---- order ----

inline void nvshmemx_quiet_on_stream(cudaStream_t cstrm) { pgas_nvshmem_quiet(pgas::compat::on_stream(cstrm)); }
/// Has no effect, because an operation of a stream begins after earlier operations of the stream have read their
/// sources.
inline void nvshmemx_flush_on_stream(cudaStream_t) {}

// ---- barriers ----

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

// ---- collectives that move data ----

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

// ---- collectives that combine data ----

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
