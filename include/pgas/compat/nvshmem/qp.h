/// @file
/// Queue pairs: their creation on the host, and one-sided operations on a queue pair in kernels. In this library all
/// handles name the same queue pair, and ordinary operations use it too. Operations are therefore ordered at least as
/// strictly as the program requests.
#pragma once

#include "pgas/compat/nvshmem/host_device.h"
#include "pgas/compat/nvshmem/rma.h"
#include "pgas/compat/nvshmem/signal_wait.h"

#if !defined(__CUDACC_RTC__)
#pragma GCC visibility push(default)
extern "C" {
/// Collective: returns handles of queue pairs, which all name the same queue pair. *Memory* the library allocates the
/// array by new[], and the program owns it.
int nvshmemx_qp_create(int num_qps, nvshmemx_qp_handle_t** out_qp_array);
}  // extern "C"
#pragma GCC visibility pop
#endif

#if defined(PGAS_NVSHMEM_ON_DEVICE)

#define PGAS_NVSHMEM_QP_COPY(NAME, TYPE, PREFIX, OP)                                                        \
  PGAS_NVSHMEM_DEVICE_FN void nvshmemx_qp_##NAME##OP(TYPE* dest, const TYPE* source, size_t nelems, int pe, \
                                                     nvshmemx_qp_handle_t) {                                \
    PREFIX##NAME##OP(dest, source, nelems, pe);                                                             \
  }
#define PGAS_NVSHMEM_QP_PUT_SIGNAL(NAME, TYPE, PREFIX, OP)                                                    \
  PGAS_NVSHMEM_DEVICE_FN void nvshmemx_qp_##NAME##OP(TYPE* dest, const TYPE* source, size_t nelems,           \
                                                     uint64_t* sig_addr, uint64_t signal, int sig_op, int pe, \
                                                     nvshmemx_qp_handle_t) {                                  \
    PREFIX##NAME##OP(dest, source, nelems, sig_addr, signal, sig_op, pe);                                     \
  }
#define PGAS_NVSHMEM_QP_SCOPES(KIND, NAME, TYPE, OP) \
  KIND(NAME, TYPE, nvshmem_, OP)                     \
  KIND(NAME, TYPE, nvshmemx_, OP##_warp)             \
  KIND(NAME, TYPE, nvshmemx_, OP##_block)

#define PGAS_RMA_TYPE(NAME, TYPE)                                                                                  \
  PGAS_NVSHMEM_DEVICE_FN void nvshmemx_qp_##NAME##_p(TYPE* dest, const TYPE value, int pe, nvshmemx_qp_handle_t) { \
    nvshmem_##NAME##_p(dest, value, pe);                                                                           \
  }                                                                                                                \
  PGAS_NVSHMEM_DEVICE_FN TYPE nvshmemx_qp_##NAME##_g(const TYPE* source, int pe, nvshmemx_qp_handle_t) {           \
    return nvshmem_##NAME##_g(source, pe);                                                                         \
  }                                                                                                                \
  PGAS_NVSHMEM_QP_SCOPES(PGAS_NVSHMEM_QP_COPY, NAME, TYPE, _put)                                                   \
  PGAS_NVSHMEM_QP_SCOPES(PGAS_NVSHMEM_QP_COPY, NAME, TYPE, _put_nbi)                                               \
  PGAS_NVSHMEM_QP_SCOPES(PGAS_NVSHMEM_QP_COPY, NAME, TYPE, _get)                                                   \
  PGAS_NVSHMEM_QP_SCOPES(PGAS_NVSHMEM_QP_COPY, NAME, TYPE, _get_nbi)                                               \
  PGAS_NVSHMEM_QP_SCOPES(PGAS_NVSHMEM_QP_PUT_SIGNAL, NAME, TYPE, _put_signal)                                      \
  PGAS_NVSHMEM_QP_SCOPES(PGAS_NVSHMEM_QP_PUT_SIGNAL, NAME, TYPE, _put_signal_nbi)
#define PGAS_NVSHMEM_TYPES
#include "pgas/compat/types.inc"

#undef PGAS_NVSHMEM_QP_COPY
#undef PGAS_NVSHMEM_QP_PUT_SIGNAL
#undef PGAS_NVSHMEM_QP_SCOPES

PGAS_NVSHMEM_DEVICE_FN void nvshmemx_qp_signal_op(uint64_t* sig_addr, uint64_t signal, int sig_op, int pe,
                                                  nvshmemx_qp_handle_t) {
  nvshmemx_signal_op(sig_addr, signal, sig_op, pe);
}

// The arguments name PEs and queue pairs. The fence or quiet always applies to all PEs and all queue pairs.
#define PGAS_NVSHMEM_QP_ORDER(OP)                                                                                   \
  PGAS_NVSHMEM_DEVICE_FN void nvshmemx_qp_##OP(int, nvshmemx_qp_handle_t*, int) { pgas::OP(PGAS_NVSHMEM_CONTEXT); } \
  PGAS_NVSHMEM_DEVICE_FN void nvshmemx_qp_##OP##_warp(int, nvshmemx_qp_handle_t*, int) {                            \
    pgas::OP(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_warp);                                                        \
  }                                                                                                                 \
  PGAS_NVSHMEM_DEVICE_FN void nvshmemx_qp_##OP##_block(int, nvshmemx_qp_handle_t*, int) {                           \
    pgas::OP(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_block);                                                       \
  }
PGAS_NVSHMEM_QP_ORDER(quiet)
PGAS_NVSHMEM_QP_ORDER(fence)
#undef PGAS_NVSHMEM_QP_ORDER

#endif
