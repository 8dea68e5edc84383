/// @file
/// Puts with a signal, signals alone, waits for words of this PE's memory that other PEs write, and tests of such
/// words. Calls by a warp or a block begin with a sync of the group, and end with a sync after the signal.
#pragma once

#include "pgas/compat/nvshmem/host_device.h"
#include "pgas/compat/nvshmem/rma.h"

// ---- puts with a signal, by type ----

#define PGAS_NVSHMEM_PUT_SIGNAL(OP, WHEN, NAME, TYPE)                                                               \
  PGAS_NVSHMEM_FN void nvshmem_##NAME##_##OP(TYPE* dest, const TYPE* source, size_t nelems, uint64_t* sig_addr,     \
                                             uint64_t signal, int sig_op, int pe) {                                 \
    PGAS_NVSHMEM_BODY(pgas::OP(PGAS_NVSHMEM_CONTEXT, dest, source, nelems, sig_addr, signal,                        \
                               static_cast<pgas::signal_op>(sig_op), pe),                                           \
                      pgas_nvshmem_put_signal(pgas::compat::WHEN(), dest, source, {nelems, sizeof(TYPE)}, sig_addr, \
                                              signal, sig_op, pe));                                                 \
  }                                                                                                                 \
  PGAS_NVSHMEM_GROUP_PUT_SIGNAL(OP, NAME, TYPE, warp)                                                               \
  PGAS_NVSHMEM_GROUP_PUT_SIGNAL(OP, NAME, TYPE, block)
#define PGAS_NVSHMEM_GROUP_PUT_SIGNAL(OP, NAME, TYPE, SCOPE)                                                    \
  PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN void nvshmemx_##NAME##_##OP##_##SCOPE(                        \
      TYPE* dest, const TYPE* source, size_t nelems, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe) { \
    pgas::OP(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_##SCOPE, dest, source, nelems, sig_addr, signal,          \
             static_cast<pgas::signal_op>(sig_op), pe);                                                         \
    PGAS_NVSHMEM_GROUP_##SCOPE.sync();                                                                          \
  })

#define PGAS_RMA_TYPE(NAME, TYPE)                           \
  PGAS_NVSHMEM_PUT_SIGNAL(put_signal, blocking, NAME, TYPE) \
  PGAS_NVSHMEM_PUT_SIGNAL(put_signal_nbi, nonblocking, NAME, TYPE)
#define PGAS_NVSHMEM_TYPES
#include "pgas/compat/types.inc"

#undef PGAS_NVSHMEM_PUT_SIGNAL
#undef PGAS_NVSHMEM_GROUP_PUT_SIGNAL

// ---- by size ----

#define PGAS_NVSHMEM_PUT_SIGNAL(FUNCTION, OP, WHEN, BYTES)                                                           \
  PGAS_NVSHMEM_FN void nvshmem_##FUNCTION(void* dest, const void* source, size_t nelems, uint64_t* sig_addr,         \
                                          uint64_t signal, int sig_op, int pe) {                                     \
    using element [[maybe_unused]] = pgas_nvshmem_element<BYTES>;                                                    \
    PGAS_NVSHMEM_BODY(                                                                                               \
        pgas::OP(PGAS_NVSHMEM_CONTEXT, element::at(dest), element::at(source), nelems* element::count, sig_addr,     \
                 signal, static_cast<pgas::signal_op>(sig_op), pe),                                                  \
        pgas_nvshmem_put_signal(pgas::compat::WHEN(), dest, source, {nelems, BYTES}, sig_addr, signal, sig_op, pe)); \
  }                                                                                                                  \
  PGAS_NVSHMEM_GROUP_PUT_SIGNAL(FUNCTION, OP, BYTES, warp)                                                           \
  PGAS_NVSHMEM_GROUP_PUT_SIGNAL(FUNCTION, OP, BYTES, block)
#define PGAS_NVSHMEM_GROUP_PUT_SIGNAL(FUNCTION, OP, BYTES, SCOPE)                                               \
  PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN void nvshmemx_##FUNCTION##_##SCOPE(                           \
      void* dest, const void* source, size_t nelems, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe) { \
    using element [[maybe_unused]] = pgas_nvshmem_element<BYTES>;                                               \
    pgas::OP(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_##SCOPE, element::at(dest), element::at(source),          \
             nelems* element::count, sig_addr, signal, static_cast<pgas::signal_op>(sig_op), pe);               \
    PGAS_NVSHMEM_GROUP_##SCOPE.sync();                                                                          \
  })

#define PGAS_SIZED(BITS, BYTES)                                            \
  PGAS_NVSHMEM_PUT_SIGNAL(put##BITS##_signal, put_signal, blocking, BYTES) \
  PGAS_NVSHMEM_PUT_SIGNAL(put##BITS##_signal_nbi, put_signal_nbi, nonblocking, BYTES)
#include "pgas/compat/types.inc"

PGAS_NVSHMEM_PUT_SIGNAL(putmem_signal, put_signal, blocking, 1)
PGAS_NVSHMEM_PUT_SIGNAL(putmem_signal_nbi, put_signal_nbi, nonblocking, 1)

// NVSHMEM's names of the 16-bit functions of warps and blocks.
PGAS_NVSHMEM_GROUP_PUT_SIGNAL(put6_signal, put_signal, 2, warp)
PGAS_NVSHMEM_GROUP_PUT_SIGNAL(put6_signal, put_signal, 2, block)
PGAS_NVSHMEM_GROUP_PUT_SIGNAL(put6_signal_nbi, put_signal_nbi, 2, warp)
PGAS_NVSHMEM_GROUP_PUT_SIGNAL(put6_signal_nbi, put_signal_nbi, 2, block)

#undef PGAS_NVSHMEM_PUT_SIGNAL
#undef PGAS_NVSHMEM_GROUP_PUT_SIGNAL

// ---- signals alone ----

#if defined(PGAS_NVSHMEM_ON_DEVICE)
/// Sets a signal or adds to the signal, depending on `sig_op`.
PGAS_NVSHMEM_DEVICE_FN void pgas_nvshmem_signal(uint64_t* sig_addr, uint64_t signal, int sig_op, int pe) {
  if (static_cast<pgas::signal_op>(sig_op) == pgas::signal_op::add) {
    pgas::signal_add(PGAS_NVSHMEM_CONTEXT, sig_addr, signal, pe);
  } else {
    pgas::signal_set(PGAS_NVSHMEM_CONTEXT, sig_addr, signal, pe);
  }
}
#endif

PGAS_NVSHMEM_FN void nvshmemx_signal_op(uint64_t* sig_addr, uint64_t signal, int sig_op, int pe) {
  PGAS_NVSHMEM_BODY(pgas_nvshmem_signal(sig_addr, signal, sig_op, pe),
                    pgas_nvshmem_signal_op(pgas::compat::blocking(), sig_addr, signal, sig_op, pe));
}
PGAS_NVSHMEM_FN uint64_t nvshmem_signal_fetch(uint64_t* sig_addr) {
  PGAS_NVSHMEM_BODY(pgas::signal_fetch(PGAS_NVSHMEM_CONTEXT, sig_addr), pgas_nvshmem_signal_fetch(sig_addr));
}
PGAS_NVSHMEM_FN uint64_t nvshmem_signal_wait_until(uint64_t* sig_addr, int cmp, uint64_t cmp_val) {
  PGAS_NVSHMEM_BODY(pgas::signal_wait_until(PGAS_NVSHMEM_CONTEXT, sig_addr, static_cast<pgas::cmp>(cmp), cmp_val),
                    pgas_nvshmem_wait(pgas::compat::words_of(sig_addr, 1, nullptr, cmp, cmp_val)));
}

/// The signal operation of older versions of NVSHMEM: sets a word of any type that waits accept.
#define PGAS_WAIT_TYPE(NAME, TYPE)                                                               \
  PGAS_NVSHMEM_FN void nvshmemx_##NAME##_signal(TYPE* dest, const TYPE value, int pe) {          \
    PGAS_NVSHMEM_BODY(pgas::p(PGAS_NVSHMEM_CONTEXT, dest, value, pe),                            \
                      pgas_nvshmem_p(pgas::compat::blocking(), dest, &value, sizeof(TYPE), pe)); \
  }
#include "pgas/compat/types.inc"

// ---- counted puts: the signal counts the bytes that have arrived ----

PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN int nvshmemx_putmem_signal_counted_nbi_block(
    void* dest, const void* source, size_t bytes, uint64_t* signal_addr, int pe) {
  nvshmemx_putmem_signal_nbi_block(dest, source, bytes, signal_addr, bytes, static_cast<int>(pgas::signal_op::add), pe);
  return NVSHMEMX_SUCCESS;
})
/// The bytes that have arrived at this PE's counter since its last reset.
PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN uint64_t nvshmemx_signal_counted_load(const uint64_t* signal_addr) {
  return pgas::signal_fetch(PGAS_NVSHMEM_CONTEXT, const_cast<uint64_t*>(signal_addr));
})
PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN void nvshmemx_signal_counted_wait_until(const uint64_t* signal_addr,
                                                                                        uint64_t expected) {
  pgas::signal_wait_until(PGAS_NVSHMEM_CONTEXT, const_cast<uint64_t*>(signal_addr), pgas::cmp::ge, expected);
})
/// Sets this PE's counter to 0. *Order* no counted put to this counter may be in progress.
PGAS_NVSHMEM_FN void nvshmemx_signal_counted_reset(uint64_t* signal_addr) {
  PGAS_NVSHMEM_BODY(pgas::signal_set(PGAS_NVSHMEM_CONTEXT, signal_addr, 0, PGAS_NVSHMEM_CONTEXT.my_pe()),
                    pgas_nvshmem_signal_reset(signal_addr));
}

// ---- waits and tests ----

// Waits for sets of words, and tests of sets. All words are compared with one value, or each word is compared with its
// own value. ENTRY and WHICH are names in host_abi.h.
#define PGAS_NVSHMEM_SET(RESULT, OP, SUFFIX, ENTRY, WHICH, NAME, TYPE, VALUE)                                  \
  PGAS_NVSHMEM_FN RESULT nvshmem_##NAME##_##OP##SUFFIX(TYPE* ivars, size_t nelems, const int* status, int cmp, \
                                                       VALUE cmp_value) {                                      \
    PGAS_NVSHMEM_BODY(                                                                                         \
        static_cast<RESULT>(                                                                                   \
            pgas::OP(PGAS_NVSHMEM_CONTEXT, ivars, nelems, status, static_cast<pgas::cmp>(cmp), cmp_value)),    \
        static_cast<RESULT>(ENTRY(pgas::compat::which::WHICH,                                                  \
                                  pgas::compat::words_of(ivars, nelems, status, cmp, cmp_value), nullptr)));   \
  }
// The functions that wait for sets of words, or test them, and return the indices of words.
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
