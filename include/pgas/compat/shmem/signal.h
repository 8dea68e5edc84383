/// @file
/// OpenSHMEM: signals, and copies that end with one. `sig_op` is SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PGAS_RMA_TYPE(NAME, TYPE)                                                                                    \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_put_signal, TYPE* dest, const TYPE* source, size_t nelems, uint64_t* sig_addr, \
                         uint64_t signal, int sig_op, int pe)                                                        \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_put_signal_nbi, TYPE* dest, const TYPE* source, size_t nelems,                 \
                         uint64_t* sig_addr, uint64_t signal, int sig_op, int pe)

#define PGAS_SIZED(BITS, BYTES)                                                                                       \
  PGAS_SHMEM_DECLARE_CTX(void, put##BITS##_signal, void* dest, const void* source, size_t nelems, uint64_t* sig_addr, \
                         uint64_t signal, int sig_op, int pe)                                                         \
  PGAS_SHMEM_DECLARE_CTX(void, put##BITS##_signal_nbi, void* dest, const void* source, size_t nelems,                 \
                         uint64_t* sig_addr, uint64_t signal, int sig_op, int pe)

#include "../types.inc"

PGAS_SHMEM_DECLARE_CTX(void, putmem_signal, void* dest, const void* source, size_t nelems, uint64_t* sig_addr,
                       uint64_t signal, int sig_op, int pe)
PGAS_SHMEM_DECLARE_CTX(void, putmem_signal_nbi, void* dest, const void* source, size_t nelems, uint64_t* sig_addr,
                       uint64_t signal, int sig_op, int pe)
PGAS_SHMEM_DECLARE_CTX(void, signal_set, uint64_t* sig_addr, uint64_t signal, int pe)
PGAS_SHMEM_DECLARE_CTX(void, signal_add, uint64_t* sig_addr, uint64_t signal, int pe)
PGAS_SHMEM_DECLARE(uint64_t, signal_fetch, (const uint64_t* sig_addr))
PGAS_SHMEM_DECLARE(uint64_t, signal_wait_until, (uint64_t * sig_addr, int cmp, uint64_t cmp_value))

#ifdef __cplusplus
}
#endif
