// shmem.h: atomic operations.
#include "pgas/atomic.hpp"

#include "host/compat/shmem/define_function.hpp"

namespace {

using namespace pgas::compat;

}  // namespace

extern "C" {

#define PGAS_SHMEM_FETCHES(NAME, OP, TYPE)                                                                 \
  PGAS_SHMEM_DEFINE_CTX(TYPE, NAME##_atomic_##OP, (TYPE * dest, TYPE value, int pe), {                     \
    const target peer = target_of(ctx, pe);                                                                \
    return pgas::atomic_##OP(peer.world, symmetric(dest), value, peer.pe);                                 \
  })                                                                                                       \
  PGAS_SHMEM_DEFINE_CTX(void, NAME##_atomic_##OP##_nbi, (TYPE * fetch, TYPE * dest, TYPE value, int pe), { \
    const target peer = target_of(ctx, pe);                                                                \
    pgas::atomic_##OP##_nbi(peer.world, fetch, symmetric(dest), value, peer.pe);                           \
  })

#define PGAS_SHMEM_UPDATES(NAME, OP, TYPE)                                             \
  PGAS_SHMEM_DEFINE_CTX(void, NAME##_atomic_##OP, (TYPE * dest, TYPE value, int pe), { \
    const target peer = target_of(ctx, pe);                                            \
    pgas::atomic_##OP(peer.world, symmetric(dest), value, peer.pe);                    \
  })

#define PGAS_WORD_TYPE(NAME, TYPE)                                                                   \
  PGAS_SHMEM_DEFINE_CTX(TYPE, NAME##_atomic_fetch, (const TYPE* source, int pe), {                   \
    const target peer = target_of(ctx, pe);                                                          \
    return pgas::atomic_fetch(peer.world, symmetric(source), peer.pe);                               \
  })                                                                                                 \
  PGAS_SHMEM_DEFINE_CTX(void, NAME##_atomic_fetch_nbi, (TYPE * fetch, const TYPE* source, int pe), { \
    const target peer = target_of(ctx, pe);                                                          \
    pgas::atomic_fetch_nbi(peer.world, fetch, symmetric(source), peer.pe);                           \
  })                                                                                                 \
  PGAS_SHMEM_UPDATES(NAME, set, TYPE)                                                                \
  PGAS_SHMEM_FETCHES(NAME, swap, TYPE)

#define PGAS_INTEGER_TYPE(NAME, TYPE)                                                                              \
  PGAS_SHMEM_DEFINE_CTX(TYPE, NAME##_atomic_compare_swap, (TYPE * dest, TYPE cond, TYPE value, int pe), {          \
    const target peer = target_of(ctx, pe);                                                                        \
    return pgas::atomic_compare_swap(peer.world, symmetric(dest), cond, value, peer.pe);                           \
  })                                                                                                               \
  PGAS_SHMEM_DEFINE_CTX(void, NAME##_atomic_compare_swap_nbi,                                                      \
                        (TYPE * fetch, TYPE * dest, TYPE cond, TYPE value, int pe), {                              \
                          const target peer = target_of(ctx, pe);                                                  \
                          pgas::atomic_compare_swap_nbi(peer.world, fetch, symmetric(dest), cond, value, peer.pe); \
                        })                                                                                         \
  PGAS_SHMEM_DEFINE_CTX(TYPE, NAME##_atomic_fetch_inc, (TYPE * dest, int pe), {                                    \
    const target peer = target_of(ctx, pe);                                                                        \
    return pgas::atomic_fetch_inc(peer.world, symmetric(dest), peer.pe);                                           \
  })                                                                                                               \
  PGAS_SHMEM_DEFINE_CTX(void, NAME##_atomic_fetch_inc_nbi, (TYPE * fetch, TYPE * dest, int pe), {                  \
    const target peer = target_of(ctx, pe);                                                                        \
    pgas::atomic_fetch_inc_nbi(peer.world, fetch, symmetric(dest), peer.pe);                                       \
  })                                                                                                               \
  PGAS_SHMEM_DEFINE_CTX(void, NAME##_atomic_inc, (TYPE * dest, int pe), {                                          \
    const target peer = target_of(ctx, pe);                                                                        \
    pgas::atomic_inc(peer.world, symmetric(dest), peer.pe);                                                        \
  })                                                                                                               \
  PGAS_SHMEM_FETCHES(NAME, fetch_add, TYPE)                                                                        \
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
