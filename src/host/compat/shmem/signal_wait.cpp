// shmem.h: signals, copies that end with a signal, waits and tests.
#include <fmt/format.h>

#include "host/compat/shmem/define_function.hpp"
#include "pgas/rma.hpp"
#include "pgas/signal.hpp"

namespace {

using namespace pgas::compat;

pgas::signal_op operation_of(int sig_op) {
  if (sig_op != SHMEM_SIGNAL_SET && sig_op != SHMEM_SIGNAL_ADD)
    throw pgas::error(pgas::code::invalid_argument,
                      fmt::format("sig_op is {}, neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD", sig_op));
  return static_cast<pgas::signal_op>(sig_op);
}

}  // namespace

extern "C" {

#define PGAS_SHMEM_PUT_SIGNAL(NAME, TYPE, OP, DEST, SOURCE)                                                          \
  PGAS_SHMEM_DEFINE_ON_PE(                                                                                           \
      void, NAME,                                                                                                    \
      (TYPE * dest, const TYPE* source, size_t nelems, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe), OP, \
      DEST(symmetric(dest)), SOURCE(source), nelems, symmetric(sig_addr), signal, operation_of(sig_op))

#define PGAS_RMA_TYPE(NAME, TYPE)                                \
  PGAS_SHMEM_PUT_SIGNAL(NAME##_put_signal, TYPE, put_signal, , ) \
  PGAS_SHMEM_PUT_SIGNAL(NAME##_put_signal_nbi, TYPE, put_signal_nbi, , )
#define PGAS_SIZED(BITS, BYTES)                                                       \
  PGAS_SHMEM_PUT_SIGNAL(put##BITS##_signal, void, put_signal, to<BYTES>, from<BYTES>) \
  PGAS_SHMEM_PUT_SIGNAL(put##BITS##_signal_nbi, void, put_signal_nbi, to<BYTES>, from<BYTES>)
#include "pgas/compat/types.inc"
PGAS_SHMEM_PUT_SIGNAL(putmem_signal, void, put_signal, to<1>, from<1>)
PGAS_SHMEM_PUT_SIGNAL(putmem_signal_nbi, void, put_signal_nbi, to<1>, from<1>)

PGAS_SHMEM_DEFINE_ON_PE(void, signal_set, (uint64_t * sig_addr, uint64_t signal, int pe), signal_set,
                        symmetric(sig_addr), signal)
PGAS_SHMEM_DEFINE_ON_PE(void, signal_add, (uint64_t * sig_addr, uint64_t signal, int pe), signal_add,
                        symmetric(sig_addr), signal)
PGAS_SHMEM_DEFINE(uint64_t, signal_fetch, (const uint64_t* sig_addr),
                  return pgas::signal_fetch(library().world(), symmetric(sig_addr));)
PGAS_SHMEM_DEFINE(uint64_t, signal_wait_until, (uint64_t * sig_addr, int cmp, uint64_t cmp_value), {
  return pgas::signal_wait_until(library().world(), symmetric(sig_addr), comparison_of(cmp), cmp_value);
})

#define PGAS_SHMEM_WAIT_ONE(NAME, TYPE)                                                                   \
  PGAS_SHMEM_DEFINE(void, NAME##_wait_until, (TYPE * ivar, int cmp, TYPE cmp_value),                      \
                    pgas::wait_until(library().world(), symmetric(ivar), comparison_of(cmp), cmp_value);) \
  PGAS_SHMEM_DEFINE(int, NAME##_test, (TYPE * ivar, int cmp, TYPE cmp_value),                             \
                    return pgas::test(library().world(), symmetric(ivar), comparison_of(cmp), cmp_value) ? 1 : 0;)

// Defines the functions that compare all words with one value, and the functions that compare each word with a separate
// value.
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
