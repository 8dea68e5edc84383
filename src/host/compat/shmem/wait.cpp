// shmem.h: waits and tests.
#include "pgas/wait.hpp"

#include "host/compat/shmem/define_function.hpp"

namespace {

using namespace pgas::compat;

}  // namespace

extern "C" {

#define PGAS_SHMEM_WAIT_ONE(NAME, TYPE)                                                                   \
  PGAS_SHMEM_DEFINE(void, NAME##_wait_until, (TYPE * ivar, int cmp, TYPE cmp_value),                      \
                    pgas::wait_until(library().world(), symmetric(ivar), comparison_of(cmp), cmp_value);) \
  PGAS_SHMEM_DEFINE(int, NAME##_test, (TYPE * ivar, int cmp, TYPE cmp_value),                             \
                    return pgas::test(library().world(), symmetric(ivar), comparison_of(cmp), cmp_value) ? 1 : 0;)

// The forms with one value and with a value for each word.
#define PGAS_SHMEM_WAIT_SET(NAME, SUFFIX, TYPE, VALUE)                                                                \
  PGAS_SHMEM_DEFINE(                                                                                                  \
      void, NAME##_wait_until_all##SUFFIX, (TYPE * ivars, size_t nelems, const int* status, int cmp, VALUE value),    \
      pgas::wait_until_all(library().world(), symmetric(ivars), nelems, status, comparison_of(cmp), value);)          \
  PGAS_SHMEM_DEFINE(                                                                                                  \
      size_t, NAME##_wait_until_any##SUFFIX, (TYPE * ivars, size_t nelems, const int* status, int cmp, VALUE value),  \
      return pgas::wait_until_any(library().world(), symmetric(ivars), nelems, status, comparison_of(cmp), value);)   \
  PGAS_SHMEM_DEFINE(size_t, NAME##_wait_until_some##SUFFIX,                                                           \
                    (TYPE * ivars, size_t nelems, size_t * indices, const int* status, int cmp, VALUE value),         \
                    return pgas::wait_until_some(library().world(), symmetric(ivars), nelems, indices, status,        \
                                                 comparison_of(cmp), value);)                                         \
  PGAS_SHMEM_DEFINE(                                                                                                  \
      int, NAME##_test_all##SUFFIX, (TYPE * ivars, size_t nelems, const int* status, int cmp, VALUE value),           \
      return pgas::test_all(library().world(), symmetric(ivars), nelems, status, comparison_of(cmp), value) ? 1 : 0;) \
  PGAS_SHMEM_DEFINE(                                                                                                  \
      size_t, NAME##_test_any##SUFFIX, (TYPE * ivars, size_t nelems, const int* status, int cmp, VALUE value),        \
      return pgas::test_any(library().world(), symmetric(ivars), nelems, status, comparison_of(cmp), value);)         \
  PGAS_SHMEM_DEFINE(size_t, NAME##_test_some##SUFFIX,                                                                 \
                    (TYPE * ivars, size_t nelems, size_t * indices, const int* status, int cmp, VALUE value),         \
                    return pgas::test_some(library().world(), symmetric(ivars), nelems, indices, status,              \
                                           comparison_of(cmp), value);)

#define PGAS_WAIT_TYPE(NAME, TYPE)        \
  PGAS_SHMEM_WAIT_ONE(NAME, TYPE)         \
  PGAS_SHMEM_WAIT_SET(NAME, , TYPE, TYPE) \
  PGAS_SHMEM_WAIT_SET(NAME, _vector, TYPE, const TYPE*)
#include "pgas/compat/types.inc"

}  // extern "C"
