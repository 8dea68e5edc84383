/// @file
/// Waits for words of this PE's own memory that other PEs write, and tests of them.
#pragma once

#include "pgas/compat/nvshmem/host_device.h"

// Sets of words, compared with one value or with a value for each. ENTRY and WHICH are those of host_abi.h.
#define PGAS_NVSHMEM_SET(RESULT, OP, SUFFIX, ENTRY, WHICH, NAME, TYPE, VALUE)                                  \
  PGAS_NVSHMEM_FN RESULT nvshmem_##NAME##_##OP##SUFFIX(TYPE* ivars, size_t nelems, const int* status, int cmp, \
                                                       VALUE cmp_value) {                                      \
    PGAS_NVSHMEM_BODY(                                                                                         \
        static_cast<RESULT>(                                                                                   \
            pgas::OP(PGAS_NVSHMEM_CONTEXT, ivars, nelems, status, static_cast<pgas::cmp>(cmp), cmp_value)),    \
        static_cast<RESULT>(ENTRY(pgas::compat::which::WHICH,                                                  \
                                  pgas::compat::words_of(ivars, nelems, status, cmp, cmp_value), nullptr)));   \
  }
// The same with indices of words.
#define PGAS_NVSHMEM_SOME(OP, SUFFIX, ENTRY, NAME, TYPE, VALUE)                                                        \
  PGAS_NVSHMEM_FN size_t nvshmem_##NAME##_##OP##SUFFIX(TYPE* ivars, size_t nelems, size_t* indices, const int* status, \
                                                       int cmp, VALUE cmp_value) {                                     \
    PGAS_NVSHMEM_BODY(                                                                                                 \
        pgas::OP(PGAS_NVSHMEM_CONTEXT, ivars, nelems, indices, status, static_cast<pgas::cmp>(cmp), cmp_value),        \
        ENTRY(pgas::compat::which::some, pgas::compat::words_of(ivars, nelems, status, cmp, cmp_value), indices));     \
  }
#define PGAS_NVSHMEM_SETS(SUFFIX, NAME, TYPE, VALUE)                                              \
  PGAS_NVSHMEM_SET(void, wait_until_all, SUFFIX, pgas_nvshmem_wait_set, all, NAME, TYPE, VALUE)   \
  PGAS_NVSHMEM_SET(size_t, wait_until_any, SUFFIX, pgas_nvshmem_wait_set, any, NAME, TYPE, VALUE) \
  PGAS_NVSHMEM_SOME(wait_until_some, SUFFIX, pgas_nvshmem_wait_set, NAME, TYPE, VALUE)            \
  PGAS_NVSHMEM_SET(int, test_all, SUFFIX, pgas_nvshmem_test_set, all, NAME, TYPE, VALUE)          \
  PGAS_NVSHMEM_SET(size_t, test_any, SUFFIX, pgas_nvshmem_test_set, any, NAME, TYPE, VALUE)       \
  PGAS_NVSHMEM_SOME(test_some, SUFFIX, pgas_nvshmem_test_set, NAME, TYPE, VALUE)

#define PGAS_WAIT_TYPE(NAME, TYPE)                                                                                   \
  PGAS_NVSHMEM_FN void nvshmem_##NAME##_wait_until(TYPE* ivar, int cmp, TYPE cmp_value) {                            \
    PGAS_NVSHMEM_BODY(                                                                                               \
        static_cast<void>(pgas::wait_until(PGAS_NVSHMEM_CONTEXT, ivar, static_cast<pgas::cmp>(cmp), cmp_value)),     \
        static_cast<void>(pgas_nvshmem_wait(pgas::compat::words_of(ivar, 1, nullptr, cmp, cmp_value))));             \
  }                                                                                                                  \
  PGAS_NVSHMEM_FN int nvshmem_##NAME##_test(TYPE* ivar, int cmp, TYPE cmp_value) {                                   \
    PGAS_NVSHMEM_BODY(                                                                                               \
        static_cast<int>(pgas::test(PGAS_NVSHMEM_CONTEXT, ivar, static_cast<pgas::cmp>(cmp), cmp_value)),            \
        static_cast<int>(pgas_nvshmem_test_set(pgas::compat::which::all,                                             \
                                               pgas::compat::words_of(ivar, 1, nullptr, cmp, cmp_value), nullptr))); \
  }                                                                                                                  \
  PGAS_NVSHMEM_SETS(, NAME, TYPE, TYPE)                                                                              \
  PGAS_NVSHMEM_SETS(_vector, NAME, TYPE, TYPE*)
#define PGAS_NVSHMEM_TYPES
#include "pgas/compat/types.inc"

#undef PGAS_NVSHMEM_SET
#undef PGAS_NVSHMEM_SOME
#undef PGAS_NVSHMEM_SETS
