/// @file
/// OpenSHMEM: waits for this PE's own words, and tests of them. `status`, where not null, leaves out every word i with
/// status[i] != 0.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

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
