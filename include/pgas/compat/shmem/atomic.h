/// @file
/// OpenSHMEM: atomic operations, each also with a context as its first argument. The `_nbi` forms write the old value
/// to `*fetch` before the next quiet returns.
#pragma once

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PGAS_WORD_TYPE(NAME, TYPE)                                                               \
  PGAS_SHMEM_DECLARE_CTX(TYPE, NAME##_atomic_fetch, const TYPE* source, int pe)                  \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_atomic_set, TYPE* dest, TYPE value, int pe)                \
  PGAS_SHMEM_DECLARE_CTX(TYPE, NAME##_atomic_swap, TYPE* dest, TYPE value, int pe)               \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_atomic_fetch_nbi, TYPE* fetch, const TYPE* source, int pe) \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_atomic_swap_nbi, TYPE* fetch, TYPE* dest, TYPE value, int pe)

#define PGAS_INTEGER_TYPE(NAME, TYPE)                                                                                  \
  PGAS_SHMEM_DECLARE_CTX(TYPE, NAME##_atomic_compare_swap, TYPE* dest, TYPE cond, TYPE value, int pe)                  \
  PGAS_SHMEM_DECLARE_CTX(TYPE, NAME##_atomic_fetch_inc, TYPE* dest, int pe)                                            \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_atomic_inc, TYPE* dest, int pe)                                                  \
  PGAS_SHMEM_DECLARE_CTX(TYPE, NAME##_atomic_fetch_add, TYPE* dest, TYPE value, int pe)                                \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_atomic_add, TYPE* dest, TYPE value, int pe)                                      \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_atomic_compare_swap_nbi, TYPE* fetch, TYPE* dest, TYPE cond, TYPE value, int pe) \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_atomic_fetch_inc_nbi, TYPE* fetch, TYPE* dest, int pe)                           \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_atomic_fetch_add_nbi, TYPE* fetch, TYPE* dest, TYPE value, int pe)

#define PGAS_BITS_TYPE(NAME, TYPE)                                                                       \
  PGAS_SHMEM_DECLARE_CTX(TYPE, NAME##_atomic_fetch_and, TYPE* dest, TYPE value, int pe)                  \
  PGAS_SHMEM_DECLARE_CTX(TYPE, NAME##_atomic_fetch_or, TYPE* dest, TYPE value, int pe)                   \
  PGAS_SHMEM_DECLARE_CTX(TYPE, NAME##_atomic_fetch_xor, TYPE* dest, TYPE value, int pe)                  \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_atomic_and, TYPE* dest, TYPE value, int pe)                        \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_atomic_or, TYPE* dest, TYPE value, int pe)                         \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_atomic_xor, TYPE* dest, TYPE value, int pe)                        \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_atomic_fetch_and_nbi, TYPE* fetch, TYPE* dest, TYPE value, int pe) \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_atomic_fetch_or_nbi, TYPE* fetch, TYPE* dest, TYPE value, int pe)  \
  PGAS_SHMEM_DECLARE_CTX(void, NAME##_atomic_fetch_xor_nbi, TYPE* fetch, TYPE* dest, TYPE value, int pe)

#include "../types.inc"

#ifdef __cplusplus
}
#endif
