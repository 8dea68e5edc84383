/// @file
/// Atomic operations on other PEs' memory, for all types of types.inc, on device and host. Operations on 64-bit types
/// take and return all 64 bits. fetch, set and swap also accept half.
#pragma once

#include "pgas/compat/nvshmem/host_device.h"

#define PGAS_NVSHMEM_UPDATE(OP, HOST_OP, NAME, TYPE)                                                            \
  PGAS_NVSHMEM_FN void nvshmem_##NAME##_##OP(TYPE* dest, TYPE value, int pe) {                                  \
    PGAS_NVSHMEM_BODY(pgas::OP(PGAS_NVSHMEM_CONTEXT, dest, value, pe),                                          \
                      static_cast<void>(pgas::compat::atomic(pgas::compat::update::HOST_OP, dest, pe, value))); \
  }
#define PGAS_NVSHMEM_FETCHING(OP, HOST_OP, NAME, TYPE)                                       \
  PGAS_NVSHMEM_FN TYPE nvshmem_##NAME##_##OP(TYPE* dest, TYPE value, int pe) {               \
    PGAS_NVSHMEM_BODY(pgas::OP(PGAS_NVSHMEM_CONTEXT, dest, value, pe),                       \
                      pgas::compat::atomic(pgas::compat::update::HOST_OP, dest, pe, value)); \
  }

#define PGAS_BITS_TYPE(NAME, TYPE)                             \
  PGAS_NVSHMEM_UPDATE(atomic_and, bit_and, NAME, TYPE)         \
  PGAS_NVSHMEM_UPDATE(atomic_or, bit_or, NAME, TYPE)           \
  PGAS_NVSHMEM_UPDATE(atomic_xor, bit_xor, NAME, TYPE)         \
  PGAS_NVSHMEM_FETCHING(atomic_fetch_and, bit_and, NAME, TYPE) \
  PGAS_NVSHMEM_FETCHING(atomic_fetch_or, bit_or, NAME, TYPE)   \
  PGAS_NVSHMEM_FETCHING(atomic_fetch_xor, bit_xor, NAME, TYPE)

#define PGAS_INTEGER_TYPE(NAME, TYPE)                                                                        \
  PGAS_NVSHMEM_UPDATE(atomic_add, add, NAME, TYPE)                                                           \
  PGAS_NVSHMEM_FETCHING(atomic_fetch_add, add, NAME, TYPE)                                                   \
  PGAS_NVSHMEM_FN void nvshmem_##NAME##_atomic_inc(TYPE* dest, int pe) {                                     \
    PGAS_NVSHMEM_BODY(                                                                                       \
        pgas::atomic_inc(PGAS_NVSHMEM_CONTEXT, dest, pe),                                                    \
        static_cast<void>(pgas::compat::atomic(pgas::compat::update::add, dest, pe, static_cast<TYPE>(1)))); \
  }                                                                                                          \
  PGAS_NVSHMEM_FN TYPE nvshmem_##NAME##_atomic_fetch_inc(TYPE* dest, int pe) {                               \
    PGAS_NVSHMEM_BODY(pgas::atomic_fetch_inc(PGAS_NVSHMEM_CONTEXT, dest, pe),                                \
                      pgas::compat::atomic(pgas::compat::update::add, dest, pe, static_cast<TYPE>(1)));      \
  }                                                                                                          \
  PGAS_NVSHMEM_FN TYPE nvshmem_##NAME##_atomic_compare_swap(TYPE* dest, TYPE cond, TYPE value, int pe) {     \
    PGAS_NVSHMEM_BODY(pgas::atomic_compare_swap(PGAS_NVSHMEM_CONTEXT, dest, cond, value, pe),                \
                      pgas::compat::atomic(pgas::compat::update::compare_swap, dest, pe, value, cond));      \
  }

#define PGAS_WORD_TYPE(NAME, TYPE)                                                    \
  PGAS_NVSHMEM_FN TYPE nvshmem_##NAME##_atomic_fetch(const TYPE* source, int pe) {    \
    PGAS_NVSHMEM_BODY(pgas::atomic_fetch(PGAS_NVSHMEM_CONTEXT, source, pe),           \
                      pgas::compat::atomic(pgas::compat::update::fetch, source, pe)); \
  }                                                                                   \
  PGAS_NVSHMEM_UPDATE(atomic_set, set, NAME, TYPE)                                    \
  PGAS_NVSHMEM_FETCHING(atomic_swap, swap, NAME, TYPE)
#define PGAS_NVSHMEM_TYPES
#include "pgas/compat/types.inc"

#undef PGAS_NVSHMEM_UPDATE
#undef PGAS_NVSHMEM_FETCHING

// Sums of floating-point numbers: an extension to NVSHMEM, for kernels only.
#define PGAS_NVSHMEM_ADD(NAME, TYPE)                                                                     \
  PGAS_NVSHMEM_DEVICE_ONLY(                                                                              \
      PGAS_NVSHMEM_DEVICE_FN void nvshmemx_##NAME##_atomic_add(TYPE* dest, TYPE value, int pe) {         \
        pgas::atomic_add(PGAS_NVSHMEM_CONTEXT, dest, value, pe);                                         \
      } PGAS_NVSHMEM_DEVICE_FN TYPE nvshmemx_##NAME##_atomic_fetch_add(TYPE* dest, TYPE value, int pe) { \
        return pgas::atomic_fetch_add(PGAS_NVSHMEM_CONTEXT, dest, value, pe);                            \
      })
PGAS_NVSHMEM_ADD(half, half)
PGAS_NVSHMEM_ADD(float, float)
PGAS_NVSHMEM_ADD(double, double)
#undef PGAS_NVSHMEM_ADD
