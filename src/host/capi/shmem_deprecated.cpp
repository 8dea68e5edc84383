// shmem.h: names that 1.2 to 1.4 replaced. They call the profiling names of their successors, so that nothing is
// counted twice.
#include "host/capi/shmem_define.hpp"
#include "pgas/wait.hpp"

namespace {

using namespace pgas::capi;

}  // namespace

extern "C" {

void start_pes(int) { pshmem_init(); }
int _my_pe(void) { return pshmem_my_pe(); }
int _num_pes(void) { return pshmem_n_pes(); }
void* shmalloc(size_t size) { return pshmem_malloc(size); }
void* shmemalign(size_t alignment, size_t size) { return pshmem_align(alignment, size); }
void* shrealloc(void* ptr, size_t size) { return pshmem_realloc(ptr, size); }
void shfree(void* ptr) { pshmem_free(ptr); }

#define PGAS_OLD_WORD_TYPE(NAME, TYPE)                                                                                 \
  PGAS_SHMEM_DEFINE(TYPE, NAME##_fetch, (const TYPE* source, int pe),                                                  \
                    return pshmem_##NAME##_atomic_fetch(source, pe);)                                                  \
  PGAS_SHMEM_DEFINE(void, NAME##_set, (TYPE * dest, TYPE value, int pe), pshmem_##NAME##_atomic_set(dest, value, pe);) \
  PGAS_SHMEM_DEFINE(TYPE, NAME##_swap, (TYPE * dest, TYPE value, int pe),                                              \
                    return pshmem_##NAME##_atomic_swap(dest, value, pe);)
#define PGAS_OLD_INTEGER_TYPE(NAME, TYPE)                                                                         \
  PGAS_SHMEM_DEFINE(TYPE, NAME##_cswap, (TYPE * dest, TYPE cond, TYPE value, int pe),                             \
                    return pshmem_##NAME##_atomic_compare_swap(dest, cond, value, pe);)                           \
  PGAS_SHMEM_DEFINE(TYPE, NAME##_finc, (TYPE * dest, int pe), return pshmem_##NAME##_atomic_fetch_inc(dest, pe);) \
  PGAS_SHMEM_DEFINE(void, NAME##_inc, (TYPE * dest, int pe), pshmem_##NAME##_atomic_inc(dest, pe);)               \
  PGAS_SHMEM_DEFINE(TYPE, NAME##_fadd, (TYPE * dest, TYPE value, int pe),                                         \
                    return pshmem_##NAME##_atomic_fetch_add(dest, value, pe);)                                    \
  PGAS_SHMEM_DEFINE(void, NAME##_add, (TYPE * dest, TYPE value, int pe), pshmem_##NAME##_atomic_add(dest, value, pe);)
#define PGAS_OLD_WAIT_TYPE(NAME, TYPE)                            \
  PGAS_SHMEM_DEFINE(void, NAME##_wait, (TYPE * ivar, TYPE value), \
                    pshmem_##NAME##_wait_until(ivar, SHMEM_CMP_NE, value);)
#include "pgas/compat/types.inc"

PGAS_SHMEM_DEFINE(void, wait, (long* ivar, long value), pshmem_long_wait_until(ivar, SHMEM_CMP_NE, value);)
PGAS_SHMEM_DEFINE(void, wait_until, (long* ivar, int cmp, long value), pshmem_long_wait_until(ivar, cmp, value);)

PGAS_SHMEM_DEFINE(void, set_cache_inv, (void), )
PGAS_SHMEM_DEFINE(void, set_cache_line_inv, (void*), )
PGAS_SHMEM_DEFINE(void, clear_cache_inv, (void), )
PGAS_SHMEM_DEFINE(void, clear_cache_line_inv, (void*), )
PGAS_SHMEM_DEFINE(void, udcflush, (void), )
PGAS_SHMEM_DEFINE(void, udcflush_line, (void*), )

}  // extern "C"
