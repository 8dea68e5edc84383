// shmem.h: order, completion, locks.
#include "host/compat/shmem/define_function.hpp"
#include "pgas/lock.hpp"
#include "pgas/rma.hpp"

namespace {

using namespace pgas::compat;

/// Programs declare locks as `long`.
pgas::lock_t* lock_of(long* lock) {
  static_assert(sizeof(pgas::lock_t) == sizeof(long));
  return reinterpret_cast<pgas::lock_t*>(symmetric(lock));
}

/// Completes one context by completing all: they share a queue. *Errors* invalid_argument for an unknown context.
void complete(shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_INVALID) return;
  static_cast<void>(library().team_number_of(ctx));
  pgas::quiet(library().world());
}

}  // namespace

extern "C" {

PGAS_SHMEM_DEFINE(void, fence, (void), pgas::fence(library().world());)
PGAS_SHMEM_DEFINE(void, ctx_fence, (shmem_ctx_t ctx), {
  if (ctx == SHMEM_CTX_INVALID) return;
  static_cast<void>(library().team_number_of(ctx));
  pgas::fence(library().world());
})
PGAS_SHMEM_DEFINE(void, quiet, (void), pgas::quiet(library().world());)
PGAS_SHMEM_DEFINE(void, ctx_quiet, (shmem_ctx_t ctx), complete(ctx);)
PGAS_SHMEM_DEFINE_CTX(void, pe_quiet, (const int* target_pes, size_t npes), {
  if (ctx == SHMEM_CTX_INVALID) return;
  for (std::size_t i = 0; i < npes; ++i)
    if (const target peer = target_of(ctx, target_pes[i]); !peer.world.accessible(peer.pe))
      throw pgas::error(pgas::code::pe_out_of_range, "shmem_pe_quiet: there is no such PE", peer.pe);
  complete(ctx);
})

PGAS_SHMEM_DEFINE(void, set_lock, (long* lock), pgas::set_lock(library().world(), lock_of(lock));)
PGAS_SHMEM_DEFINE(void, clear_lock, (long* lock), pgas::clear_lock(library().world(), lock_of(lock));)
PGAS_SHMEM_DEFINE(int, test_lock, (long* lock), return pgas::test_lock(library().world(), lock_of(lock)) ? 0 : 1;)

}  // extern "C"
