// shmem.h: copies.
#include "host/compat/shmem/define.hpp"
#include "host/compat/shmem/element.hpp"
#include "pgas/rma.hpp"

namespace {

using namespace pgas::capi;

}  // namespace

extern "C" {

// NAME_put and so on of one type; DEST and SOURCE cast to the elements that are copied.
#define PGAS_SHMEM_CONTIGUOUS(PUT, GET, SUFFIX, TYPE, DEST, SOURCE)                                          \
  PGAS_SHMEM_DEFINE_CTX(void, PUT##SUFFIX, (TYPE * dest, const TYPE* source, size_t nelems, int pe), {       \
    const place there = at(ctx, pe);                                                                         \
    pgas::put(there.world, DEST(symmetric(dest)), SOURCE(source), nelems, there.pe);                         \
  })                                                                                                         \
  PGAS_SHMEM_DEFINE_CTX(void, GET##SUFFIX, (TYPE * dest, const TYPE* source, size_t nelems, int pe), {       \
    const place there = at(ctx, pe);                                                                         \
    pgas::get(there.world, DEST(dest), SOURCE(symmetric(source)), nelems, there.pe);                         \
  })                                                                                                         \
  PGAS_SHMEM_DEFINE_CTX(void, PUT##SUFFIX##_nbi, (TYPE * dest, const TYPE* source, size_t nelems, int pe), { \
    const place there = at(ctx, pe);                                                                         \
    pgas::put_nbi(there.world, DEST(symmetric(dest)), SOURCE(source), nelems, there.pe);                     \
  })                                                                                                         \
  PGAS_SHMEM_DEFINE_CTX(void, GET##SUFFIX##_nbi, (TYPE * dest, const TYPE* source, size_t nelems, int pe), { \
    const place there = at(ctx, pe);                                                                         \
    pgas::get_nbi(there.world, DEST(dest), SOURCE(symmetric(source)), nelems, there.pe);                     \
  })

#define PGAS_SHMEM_STRIDED(PREFIX, SUFFIX, TYPE, DEST, SOURCE)                                                        \
  PGAS_SHMEM_DEFINE_CTX(void, PREFIX##iput##SUFFIX,                                                                   \
                        (TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe), {     \
                          const place there = at(ctx, pe);                                                            \
                          pgas::iput(there.world, DEST(symmetric(dest)), SOURCE(source), dst, sst, nelems, there.pe); \
                        })                                                                                            \
  PGAS_SHMEM_DEFINE_CTX(void, PREFIX##iget##SUFFIX,                                                                   \
                        (TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe), {     \
                          const place there = at(ctx, pe);                                                            \
                          pgas::iget(there.world, DEST(dest), SOURCE(symmetric(source)), dst, sst, nelems, there.pe); \
                        })                                                                                            \
  PGAS_SHMEM_DEFINE_CTX(                                                                                              \
      void, PREFIX##ibput##SUFFIX,                                                                                    \
      (TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe), {        \
        const place there = at(ctx, pe);                                                                              \
        pgas::ibput(there.world, DEST(symmetric(dest)), SOURCE(source), dst, sst, bsize, nblocks, there.pe);          \
      })                                                                                                              \
  PGAS_SHMEM_DEFINE_CTX(                                                                                              \
      void, PREFIX##ibget##SUFFIX,                                                                                    \
      (TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe), {        \
        const place there = at(ctx, pe);                                                                              \
        pgas::ibget(there.world, DEST(dest), SOURCE(symmetric(source)), dst, sst, bsize, nblocks, there.pe);          \
      })

#define PGAS_RMA_TYPE(NAME, TYPE)                                            \
  PGAS_SHMEM_CONTIGUOUS(NAME##_put, NAME##_get, , TYPE, , )                  \
  PGAS_SHMEM_STRIDED(NAME##_, , TYPE, , )                                    \
  PGAS_SHMEM_DEFINE_CTX(void, NAME##_p, (TYPE * dest, TYPE value, int pe), { \
    const place there = at(ctx, pe);                                         \
    pgas::p(there.world, symmetric(dest), value, there.pe);                  \
  })                                                                         \
  PGAS_SHMEM_DEFINE_CTX(TYPE, NAME##_g, (const TYPE* source, int pe), {      \
    const place there = at(ctx, pe);                                         \
    return pgas::g(there.world, symmetric(source), there.pe);                \
  })

#define PGAS_SIZED(BITS, BYTES)                                       \
  PGAS_SHMEM_CONTIGUOUS(put, get, BITS, void, to<BYTES>, from<BYTES>) \
  PGAS_SHMEM_STRIDED(, BITS, void, to<BYTES>, from<BYTES>)

#include "pgas/compat/types.inc"

PGAS_SHMEM_CONTIGUOUS(put, get, mem, void, to<1>, from<1>)

}  // extern "C"
