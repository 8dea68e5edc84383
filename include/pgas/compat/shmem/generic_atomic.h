/// @file
/// C11: the type-generic names of atomic operations, with those that 1.4 replaced.
#pragma once

#include "generic.h"

#define shmem_atomic_fetch(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_WORD_TYPES, _atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_WORD_TYPES, _atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_WORD_TYPES, _atomic_swap, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_WORD_TYPES, _atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_WORD_TYPES, _atomic_swap_nbi, __VA_ARGS__)

#define shmem_atomic_compare_swap(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_INTEGER_TYPES, _atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_INTEGER_TYPES, _atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_inc(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_INTEGER_TYPES, _atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_INTEGER_TYPES, _atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_add(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_INTEGER_TYPES, _atomic_add, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) \
  PGAS_SHMEM_BY_DATA(PGAS_SHMEM_INTEGER_TYPES, _atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_INTEGER_TYPES, _atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_INTEGER_TYPES, _atomic_fetch_add_nbi, __VA_ARGS__)

#define shmem_atomic_fetch_and(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_BITS_TYPES, _atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_BITS_TYPES, _atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_BITS_TYPES, _atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_and(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_BITS_TYPES, _atomic_and, __VA_ARGS__)
#define shmem_atomic_or(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_BITS_TYPES, _atomic_or, __VA_ARGS__)
#define shmem_atomic_xor(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_BITS_TYPES, _atomic_xor, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_BITS_TYPES, _atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_BITS_TYPES, _atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_BITS_TYPES, _atomic_fetch_xor_nbi, __VA_ARGS__)

#define shmem_fetch(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WORD_TYPES, _fetch, __VA_ARGS__)
#define shmem_set(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WORD_TYPES, _set, __VA_ARGS__)
#define shmem_swap(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WORD_TYPES, _swap, __VA_ARGS__)
#define shmem_cswap(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_INTEGER_TYPES, _cswap, __VA_ARGS__)
#define shmem_finc(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_INTEGER_TYPES, _finc, __VA_ARGS__)
#define shmem_inc(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_INTEGER_TYPES, _inc, __VA_ARGS__)
#define shmem_fadd(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_INTEGER_TYPES, _fadd, __VA_ARGS__)
#define shmem_add(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_INTEGER_TYPES, _add, __VA_ARGS__)
