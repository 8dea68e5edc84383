// shmem.h: atomic operations.
#include "pgas/atomic.hpp"

#include "host/compat/shmem/define_function.hpp"

namespace {

using namespace pgas::compat;

}  // namespace

extern "C" {

#define PGAS_SHMEM_FETCHES(NAME, OP, TYPE)                                                                           \
  PGAS_SHMEM_DEFINE_ON_PE(TYPE, NAME##_atomic_##OP, (TYPE * dest, TYPE value, int pe), atomic_##OP, symmetric(dest), \
                          value)                                                                                     \
  PGAS_SHMEM_DEFINE_ON_PE(void, NAME##_atomic_##OP##_nbi, (TYPE * fetch, TYPE * dest, TYPE value, int pe),           \
                          atomic_##OP##_nbi, fetch, symmetric(dest), value)

#define PGAS_SHMEM_UPDATES(NAME, OP, TYPE)                                                                           \
  PGAS_SHMEM_DEFINE_ON_PE(void, NAME##_atomic_##OP, (TYPE * dest, TYPE value, int pe), atomic_##OP, symmetric(dest), \
                          value)

#define PGAS_WORD_TYPE(NAME, TYPE)                                                                                     \
  PGAS_SHMEM_DEFINE_ON_PE(TYPE, NAME##_atomic_fetch, (const TYPE* source, int pe), atomic_fetch, symmetric(source))    \
  PGAS_SHMEM_DEFINE_ON_PE(void, NAME##_atomic_fetch_nbi, (TYPE * fetch, const TYPE* source, int pe), atomic_fetch_nbi, \
                          fetch, symmetric(source))                                                                    \
  PGAS_SHMEM_UPDATES(NAME, set, TYPE)                                                                                  \
  PGAS_SHMEM_FETCHES(NAME, swap, TYPE)

#define PGAS_INTEGER_TYPE(NAME, TYPE)                                                                                 \
  PGAS_SHMEM_DEFINE_ON_PE(TYPE, NAME##_atomic_compare_swap, (TYPE * dest, TYPE cond, TYPE value, int pe),             \
                          atomic_compare_swap, symmetric(dest), cond, value)                                          \
  PGAS_SHMEM_DEFINE_ON_PE(void, NAME##_atomic_compare_swap_nbi,                                                       \
                          (TYPE * fetch, TYPE * dest, TYPE cond, TYPE value, int pe), atomic_compare_swap_nbi, fetch, \
                          symmetric(dest), cond, value)                                                               \
  PGAS_SHMEM_DEFINE_ON_PE(TYPE, NAME##_atomic_fetch_inc, (TYPE * dest, int pe), atomic_fetch_inc, symmetric(dest))    \
  PGAS_SHMEM_DEFINE_ON_PE(void, NAME##_atomic_fetch_inc_nbi, (TYPE * fetch, TYPE * dest, int pe),                     \
                          atomic_fetch_inc_nbi, fetch, symmetric(dest))                                               \
  PGAS_SHMEM_DEFINE_ON_PE(void, NAME##_atomic_inc, (TYPE * dest, int pe), atomic_inc, symmetric(dest))                \
  PGAS_SHMEM_FETCHES(NAME, fetch_add, TYPE)                                                                           \
  PGAS_SHMEM_UPDATES(NAME, add, TYPE)

#define PGAS_BITS_TYPE(NAME, TYPE)          \
  PGAS_SHMEM_FETCHES(NAME, fetch_and, TYPE) \
  PGAS_SHMEM_FETCHES(NAME, fetch_or, TYPE)  \
  PGAS_SHMEM_FETCHES(NAME, fetch_xor, TYPE) \
  PGAS_SHMEM_UPDATES(NAME, and, TYPE)       \
  PGAS_SHMEM_UPDATES(NAME, or, TYPE)        \
  PGAS_SHMEM_UPDATES(NAME, xor, TYPE)

#include "pgas/compat/types.inc"

}  // extern "C"
