// shmem.h: locks, implemented by pgas/lock.hpp. If a process is lost while it holds a lock, set_lock() of the other
// processes ends with an error.
#include "pgas/lock.hpp"

#include "host/compat/shmem/define_function.hpp"

namespace {

using namespace pgas::compat;

/// Programs declare locks as `long`.
pgas::lock_t* lock_of(long* lock) {
  static_assert(sizeof(pgas::lock_t) == sizeof(long));
  return reinterpret_cast<pgas::lock_t*>(symmetric(lock));
}

}  // namespace

extern "C" {

PGAS_SHMEM_DEFINE(void, set_lock, (long* lock), pgas::set_lock(library().world(), lock_of(lock));)
PGAS_SHMEM_DEFINE(void, clear_lock, (long* lock), pgas::clear_lock(library().world(), lock_of(lock));)
PGAS_SHMEM_DEFINE(int, test_lock, (long* lock), return pgas::test_lock(library().world(), lock_of(lock)) ? 0 : 1;)

}  // extern "C"
