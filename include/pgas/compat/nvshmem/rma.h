/// @file
/// Puts and gets of single values, arrays, and strided arrays, with names by type, by element size, and for bytes; and
/// functions that order and complete operations. stream.h has copies on a stream, and signal_wait.h has copies with a
/// signal.
#pragma once

#include "pgas/compat/nvshmem/host_device.h"

// Calls by a warp or a block begin and end with a sync of this group. Nonblocking operations of pgas do not end with a
// sync, so these macros add a sync.
#define PGAS_NVSHMEM_END_blocking(SCOPE)
#define PGAS_NVSHMEM_END_nonblocking(SCOPE) PGAS_NVSHMEM_GROUP_##SCOPE.sync()

// ---- by type ----

#define PGAS_NVSHMEM_COPY(OP, HOST_OP, WHEN, NAME, TYPE)                                                       \
  PGAS_NVSHMEM_FN void nvshmem_##NAME##_##OP(TYPE* dest, const TYPE* source, size_t nelems, int pe) {          \
    PGAS_NVSHMEM_BODY(pgas::OP(PGAS_NVSHMEM_CONTEXT, dest, source, nelems, pe),                                \
                      pgas_nvshmem_##HOST_OP(pgas::compat::WHEN(), dest, source, {nelems, sizeof(TYPE)}, pe)); \
  }                                                                                                            \
  PGAS_NVSHMEM_GROUP_COPY(OP, WHEN, NAME, TYPE, warp)                                                          \
  PGAS_NVSHMEM_GROUP_COPY(OP, WHEN, NAME, TYPE, block)
#define PGAS_NVSHMEM_GROUP_COPY(OP, WHEN, NAME, TYPE, SCOPE)                              \
  PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN void nvshmemx_##NAME##_##OP##_##SCOPE(  \
      TYPE* dest, const TYPE* source, size_t nelems, int pe) {                            \
    pgas::OP(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_##SCOPE, dest, source, nelems, pe); \
    PGAS_NVSHMEM_END_##WHEN(SCOPE);                                                       \
  })

#define PGAS_NVSHMEM_STRIDED(OP, NAME, TYPE)                                                               \
  PGAS_NVSHMEM_FN void nvshmem_##NAME##_##OP(TYPE* dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, \
                                             size_t nelems, int pe) {                                      \
    PGAS_NVSHMEM_BODY(                                                                                     \
        pgas::OP(PGAS_NVSHMEM_CONTEXT, dest, source, dst, sst, nelems, pe),                                \
        pgas_nvshmem_##OP(pgas::compat::blocking(), dest, source, dst, sst, {nelems, sizeof(TYPE)}, pe));  \
  }                                                                                                        \
  PGAS_NVSHMEM_GROUP_STRIDED(OP, NAME, TYPE, warp)                                                         \
  PGAS_NVSHMEM_GROUP_STRIDED(OP, NAME, TYPE, block)
#define PGAS_NVSHMEM_GROUP_STRIDED(OP, NAME, TYPE, SCOPE)                                           \
  PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN void nvshmemx_##NAME##_##OP##_##SCOPE(            \
      TYPE* dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) {        \
    pgas::OP(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_##SCOPE, dest, source, dst, sst, nelems, pe); \
  })

#define PGAS_RMA_TYPE(NAME, TYPE)                                                                \
  PGAS_NVSHMEM_FN void nvshmem_##NAME##_p(TYPE* dest, const TYPE value, int pe) {                \
    PGAS_NVSHMEM_BODY(pgas::p(PGAS_NVSHMEM_CONTEXT, dest, value, pe),                            \
                      pgas_nvshmem_p(pgas::compat::blocking(), dest, &value, sizeof(TYPE), pe)); \
  }                                                                                              \
  PGAS_NVSHMEM_FN TYPE nvshmem_##NAME##_g(const TYPE* source, int pe) {                          \
    PGAS_NVSHMEM_BODY(pgas::g(PGAS_NVSHMEM_CONTEXT, source, pe),                                 \
                      pgas::compat::read(pgas::compat::blocking(), source, pe));                 \
  }                                                                                              \
  PGAS_NVSHMEM_COPY(put, put, blocking, NAME, TYPE)                                              \
  PGAS_NVSHMEM_COPY(put_nbi, put, nonblocking, NAME, TYPE)                                       \
  PGAS_NVSHMEM_COPY(get, get, blocking, NAME, TYPE)                                              \
  PGAS_NVSHMEM_COPY(get_nbi, get, nonblocking, NAME, TYPE)                                       \
  PGAS_NVSHMEM_STRIDED(iput, NAME, TYPE)                                                         \
  PGAS_NVSHMEM_STRIDED(iget, NAME, TYPE)
#define PGAS_NVSHMEM_TYPES
#include "pgas/compat/types.inc"

#undef PGAS_NVSHMEM_COPY
#undef PGAS_NVSHMEM_GROUP_COPY
#undef PGAS_NVSHMEM_STRIDED
#undef PGAS_NVSHMEM_GROUP_STRIDED

// ---- by size ----

#define PGAS_NVSHMEM_COPY(FUNCTION, OP, HOST_OP, WHEN, BYTES)                                               \
  PGAS_NVSHMEM_FN void nvshmem_##FUNCTION(void* dest, const void* source, size_t nelems, int pe) {          \
    using element [[maybe_unused]] = pgas_nvshmem_element<BYTES>;                                           \
    PGAS_NVSHMEM_BODY(                                                                                      \
        pgas::OP(PGAS_NVSHMEM_CONTEXT, element::at(dest), element::at(source), nelems* element::count, pe), \
        pgas_nvshmem_##HOST_OP(pgas::compat::WHEN(), dest, source, {nelems, BYTES}, pe));                   \
  }                                                                                                         \
  PGAS_NVSHMEM_GROUP_COPY(FUNCTION, OP, WHEN, BYTES, warp)                                                  \
  PGAS_NVSHMEM_GROUP_COPY(FUNCTION, OP, WHEN, BYTES, block)
#define PGAS_NVSHMEM_GROUP_COPY(FUNCTION, OP, WHEN, BYTES, SCOPE)                                                    \
  PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN void nvshmemx_##FUNCTION##_##SCOPE(void* dest, const void* source, \
                                                                                     size_t nelems, int pe) {        \
    using element [[maybe_unused]] = pgas_nvshmem_element<BYTES>;                                                    \
    pgas::OP(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_##SCOPE, element::at(dest), element::at(source),               \
             nelems* element::count, pe);                                                                            \
    PGAS_NVSHMEM_END_##WHEN(SCOPE);                                                                                  \
  })

#define PGAS_NVSHMEM_STRIDED(FUNCTION, OP, BYTES)                                                                      \
  PGAS_NVSHMEM_FN void nvshmem_##FUNCTION(void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                                          int pe) {                                                                    \
    using element [[maybe_unused]] = pgas_nvshmem_element<BYTES>;                                                      \
    PGAS_NVSHMEM_BODY(pgas::ib##OP(PGAS_NVSHMEM_CONTEXT, element::at(dest), element::at(source), dst* element::count,  \
                                   sst* element::count, element::count, nelems, pe),                                   \
                      pgas_nvshmem_i##OP(pgas::compat::blocking(), dest, source, dst, sst, {nelems, BYTES}, pe));      \
  }                                                                                                                    \
  PGAS_NVSHMEM_GROUP_STRIDED(FUNCTION, OP, BYTES, warp)                                                                \
  PGAS_NVSHMEM_GROUP_STRIDED(FUNCTION, OP, BYTES, block)
#define PGAS_NVSHMEM_GROUP_STRIDED(FUNCTION, OP, BYTES, SCOPE)                                             \
  PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN void nvshmemx_##FUNCTION##_##SCOPE(                      \
      void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) {               \
    using element [[maybe_unused]] = pgas_nvshmem_element<BYTES>;                                          \
    pgas::ib##OP(PGAS_NVSHMEM_CONTEXT, PGAS_NVSHMEM_GROUP_##SCOPE, element::at(dest), element::at(source), \
                 dst* element::count, sst* element::count, element::count, nelems, pe);                    \
  })

#define PGAS_SIZED(BITS, BYTES)                                        \
  PGAS_NVSHMEM_COPY(put##BITS, put, put, blocking, BYTES)              \
  PGAS_NVSHMEM_COPY(put##BITS##_nbi, put_nbi, put, nonblocking, BYTES) \
  PGAS_NVSHMEM_COPY(get##BITS, get, get, blocking, BYTES)              \
  PGAS_NVSHMEM_COPY(get##BITS##_nbi, get_nbi, get, nonblocking, BYTES) \
  PGAS_NVSHMEM_STRIDED(iput##BITS, put, BYTES)                         \
  PGAS_NVSHMEM_STRIDED(iget##BITS, get, BYTES)
#include "pgas/compat/types.inc"

PGAS_NVSHMEM_COPY(putmem, put, put, blocking, 1)
PGAS_NVSHMEM_COPY(putmem_nbi, put_nbi, put, nonblocking, 1)
PGAS_NVSHMEM_COPY(getmem, get, get, blocking, 1)
PGAS_NVSHMEM_COPY(getmem_nbi, get_nbi, get, nonblocking, 1)

#undef PGAS_NVSHMEM_COPY
#undef PGAS_NVSHMEM_GROUP_COPY
#undef PGAS_NVSHMEM_STRIDED
#undef PGAS_NVSHMEM_GROUP_STRIDED
#undef PGAS_NVSHMEM_END_blocking
#undef PGAS_NVSHMEM_END_nonblocking

// ---- order and completion ----

PGAS_NVSHMEM_FN void nvshmem_fence(void) { PGAS_NVSHMEM_BODY(pgas::fence(PGAS_NVSHMEM_CONTEXT), pgas_nvshmem_fence()); }
PGAS_NVSHMEM_FN void nvshmem_quiet(void) {
  PGAS_NVSHMEM_BODY(pgas::quiet(PGAS_NVSHMEM_CONTEXT), pgas_nvshmem_quiet(pgas::compat::blocking()));
}

// On return the program may write the sources of earlier nonblocking puts again. The function has no effect, because an
// operation returns only after it has read its source. (For an operation of a group, this holds after the threads of
// the group have synchronized.)
PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN void nvshmemx_flush(void){})
PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN void nvshmemx_flush_warp(void) { PGAS_NVSHMEM_GROUP_warp.sync(); })
PGAS_NVSHMEM_DEVICE_ONLY(PGAS_NVSHMEM_DEVICE_FN void nvshmemx_flush_block(void) { PGAS_NVSHMEM_GROUP_block.sync(); })
