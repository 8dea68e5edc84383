// shmem.h: copies, and their order and completion.
#include "pgas/rma.hpp"

#include "host/compat/shmem/define_function.hpp"

namespace {

using namespace pgas::compat;

/// Completes all contexts, because they share a queue. *Errors* invalid_argument for an unknown context.
void complete(shmem_ctx_t ctx) {
  if (ctx == SHMEM_CTX_INVALID) return;
  static_cast<void>(library().team_number_of(ctx));
  pgas::quiet(library().world());
}

}  // namespace

extern "C" {

// put, get and their nonblocking forms for one type. DEST and SOURCE cast to the element type.
#define PGAS_SHMEM_CONTIGUOUS(PUT, GET, SUFFIX, TYPE, DEST, SOURCE)                                                   \
  PGAS_SHMEM_DEFINE_ON_PE(void, PUT##SUFFIX, (TYPE * dest, const TYPE* source, size_t nelems, int pe), put,           \
                          DEST(symmetric(dest)), SOURCE(source), nelems)                                              \
  PGAS_SHMEM_DEFINE_ON_PE(void, GET##SUFFIX, (TYPE * dest, const TYPE* source, size_t nelems, int pe), get,           \
                          DEST(dest), SOURCE(symmetric(source)), nelems)                                              \
  PGAS_SHMEM_DEFINE_ON_PE(void, PUT##SUFFIX##_nbi, (TYPE * dest, const TYPE* source, size_t nelems, int pe), put_nbi, \
                          DEST(symmetric(dest)), SOURCE(source), nelems)                                              \
  PGAS_SHMEM_DEFINE_ON_PE(void, GET##SUFFIX##_nbi, (TYPE * dest, const TYPE* source, size_t nelems, int pe), get_nbi, \
                          DEST(dest), SOURCE(symmetric(source)), nelems)

#define PGAS_SHMEM_STRIDED(PREFIX, SUFFIX, TYPE, DEST, SOURCE)                                                      \
  PGAS_SHMEM_DEFINE_ON_PE(void, PREFIX##iput##SUFFIX,                                                               \
                          (TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe),   \
                          iput, DEST(symmetric(dest)), SOURCE(source), dst, sst, nelems)                            \
  PGAS_SHMEM_DEFINE_ON_PE(void, PREFIX##iget##SUFFIX,                                                               \
                          (TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe),   \
                          iget, DEST(dest), SOURCE(symmetric(source)), dst, sst, nelems)                            \
  PGAS_SHMEM_DEFINE_ON_PE(                                                                                          \
      void, PREFIX##ibput##SUFFIX,                                                                                  \
      (TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe), ibput, \
      DEST(symmetric(dest)), SOURCE(source), dst, sst, bsize, nblocks)                                              \
  PGAS_SHMEM_DEFINE_ON_PE(                                                                                          \
      void, PREFIX##ibget##SUFFIX,                                                                                  \
      (TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe), ibget, \
      DEST(dest), SOURCE(symmetric(source)), dst, sst, bsize, nblocks)

#define PGAS_RMA_TYPE(NAME, TYPE)                                                                       \
  PGAS_SHMEM_CONTIGUOUS(NAME##_put, NAME##_get, , TYPE, , )                                             \
  PGAS_SHMEM_STRIDED(NAME##_, , TYPE, , )                                                               \
  PGAS_SHMEM_DEFINE_ON_PE(void, NAME##_p, (TYPE * dest, TYPE value, int pe), p, symmetric(dest), value) \
  PGAS_SHMEM_DEFINE_ON_PE(TYPE, NAME##_g, (const TYPE* source, int pe), g, symmetric(source))

#define PGAS_SIZED(BITS, BYTES)                                       \
  PGAS_SHMEM_CONTIGUOUS(put, get, BITS, void, to<BYTES>, from<BYTES>) \
  PGAS_SHMEM_STRIDED(, BITS, void, to<BYTES>, from<BYTES>)

#include "pgas/compat/types.inc"

PGAS_SHMEM_CONTIGUOUS(put, get, mem, void, to<1>, from<1>)

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

}  // extern "C"
