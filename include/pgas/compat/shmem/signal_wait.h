/// @file
/// OpenSHMEM: signals, and copies that end with a signal; waits for this PE's words, and tests of them. `sig_op` is
/// SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD. `status`, if not null, excludes every word i with status[i] != 0.
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

// ---- waits and tests ----

#define PGAS_WAIT_TYPE(NAME, TYPE)                                                                                    \
  PGAS_SHMEM_DECLARE(void, NAME##_wait_until, (TYPE * ivar, int cmp, TYPE cmp_value))                                 \
  PGAS_SHMEM_DECLARE(void, NAME##_wait_until_all,                                                                     \
                     (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value))                       \
  PGAS_SHMEM_DECLARE(size_t, NAME##_wait_until_any,                                                                   \
                     (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value))                       \
  PGAS_SHMEM_DECLARE(size_t, NAME##_wait_until_some,                                                                  \
                     (TYPE * ivars, size_t nelems, size_t * indices, const int* status, int cmp, TYPE cmp_value))     \
  PGAS_SHMEM_DECLARE(void, NAME##_wait_until_all_vector,                                                              \
                     (TYPE * ivars, size_t nelems, const int* status, int cmp, const TYPE* cmp_values))               \
  PGAS_SHMEM_DECLARE(size_t, NAME##_wait_until_any_vector,                                                            \
                     (TYPE * ivars, size_t nelems, const int* status, int cmp, const TYPE* cmp_values))               \
  PGAS_SHMEM_DECLARE(                                                                                                 \
      size_t, NAME##_wait_until_some_vector,                                                                          \
      (TYPE * ivars, size_t nelems, size_t * indices, const int* status, int cmp, const TYPE* cmp_values))            \
  PGAS_SHMEM_DECLARE(int, NAME##_test, (TYPE * ivar, int cmp, TYPE cmp_value))                                        \
  PGAS_SHMEM_DECLARE(int, NAME##_test_all, (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value)) \
  PGAS_SHMEM_DECLARE(size_t, NAME##_test_any,                                                                         \
                     (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value))                       \
  PGAS_SHMEM_DECLARE(size_t, NAME##_test_some,                                                                        \
                     (TYPE * ivars, size_t nelems, size_t * indices, const int* status, int cmp, TYPE cmp_value))     \
  PGAS_SHMEM_DECLARE(int, NAME##_test_all_vector,                                                                     \
                     (TYPE * ivars, size_t nelems, const int* status, int cmp, const TYPE* cmp_values))               \
  PGAS_SHMEM_DECLARE(size_t, NAME##_test_any_vector,                                                                  \
                     (TYPE * ivars, size_t nelems, const int* status, int cmp, const TYPE* cmp_values))               \
  PGAS_SHMEM_DECLARE(                                                                                                 \
      size_t, NAME##_test_some_vector,                                                                                \
      (TYPE * ivars, size_t nelems, size_t * indices, const int* status, int cmp, const TYPE* cmp_values))

#include "../types.inc"

#ifdef __cplusplus
}
#endif
