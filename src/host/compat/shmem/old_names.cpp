// shmem.h: the old names that OpenSHMEM 1.2 to 1.4 replaced.
#include "host/compat/shmem/define_function.hpp"
#include "pgas/atomic.hpp"
#include "pgas/wait.hpp"

namespace {

using namespace pgas::compat;

}  // namespace

extern "C" {

void start_pes(int) {
  if (runtime::instance().stage() == stage::none) pshmem_init();  // no effect if already initialized
}
int _my_pe(void) { return pshmem_my_pe(); }
int _num_pes(void) { return pshmem_n_pes(); }
void* shmalloc(size_t size) { return pshmem_malloc(size); }
void* shmemalign(size_t alignment, size_t size) { return pshmem_align(alignment, size); }
void* shrealloc(void* ptr, size_t size) { return pshmem_realloc(ptr, size); }
void shfree(void* ptr) { pshmem_free(ptr); }

#define PGAS_SHMEM_OLD(RESULT, NAME, PARAMETERS, OP, ...) \
  PGAS_SHMEM_DEFINE(RESULT, NAME, PARAMETERS, return pgas::atomic_##OP(library().world(), __VA_ARGS__, pe);)
#define PGAS_WORD_TYPE(NAME, TYPE)                                                                 \
  PGAS_SHMEM_OLD(TYPE, NAME##_fetch, (const TYPE* source, int pe), fetch, symmetric(source))       \
  PGAS_SHMEM_OLD(void, NAME##_set, (TYPE * dest, TYPE value, int pe), set, symmetric(dest), value) \
  PGAS_SHMEM_OLD(TYPE, NAME##_swap, (TYPE * dest, TYPE value, int pe), swap, symmetric(dest), value)
#define PGAS_INTEGER_TYPE(NAME, TYPE)                                                                             \
  PGAS_SHMEM_OLD(TYPE, NAME##_cswap, (TYPE * dest, TYPE cond, TYPE value, int pe), compare_swap, symmetric(dest), \
                 cond, value)                                                                                     \
  PGAS_SHMEM_OLD(TYPE, NAME##_finc, (TYPE * dest, int pe), fetch_inc, symmetric(dest))                            \
  PGAS_SHMEM_OLD(void, NAME##_inc, (TYPE * dest, int pe), inc, symmetric(dest))                                   \
  PGAS_SHMEM_OLD(TYPE, NAME##_fadd, (TYPE * dest, TYPE value, int pe), fetch_add, symmetric(dest), value)         \
  PGAS_SHMEM_OLD(void, NAME##_add, (TYPE * dest, TYPE value, int pe), add, symmetric(dest), value)
#define PGAS_SHMEM_OLD_WAIT(NAME, CMP, PARAMETERS, VALUE) \
  PGAS_SHMEM_DEFINE(void, NAME, PARAMETERS, pgas::wait_until(library().world(), symmetric(ivar), CMP, VALUE);)
#define PGAS_OLD_WAIT_TYPE(NAME, TYPE) PGAS_SHMEM_OLD_WAIT(NAME##_wait, pgas::cmp::ne, (TYPE * ivar, TYPE value), value)
#include "pgas/compat/types.inc"

PGAS_SHMEM_OLD_WAIT(wait, pgas::cmp::ne, (long* ivar, long value), value)
PGAS_SHMEM_OLD_WAIT(wait_until, comparison_of(cmp), (long* ivar, int cmp, long value), value)

PGAS_SHMEM_DEFINE(void, set_cache_inv, (void), )
PGAS_SHMEM_DEFINE(void, set_cache_line_inv, (void*), )
PGAS_SHMEM_DEFINE(void, clear_cache_inv, (void), )
PGAS_SHMEM_DEFINE(void, clear_cache_line_inv, (void*), )
PGAS_SHMEM_DEFINE(void, udcflush, (void), )
PGAS_SHMEM_DEFINE(void, udcflush_line, (void*), )

}  // extern "C"
