/// @file
/// C11: generic macros with one name for all types. The first part of this file defines the selection of the function,
/// the second part the names. Types that are the same for the compiler (long and int64_t) select the same function.
#pragma once

#include "types.h"

/// The function that a call with an unsupported type selects. The function has no parameters, so the call does not
/// compile.
void pgas_shmem_no_such_type(void);

#define PGAS_SHMEM_FIRST(...) PGAS_SHMEM_FIRST_OF(__VA_ARGS__, 0)
#define PGAS_SHMEM_FIRST_OF(FIRST, ...) FIRST
#define PGAS_SHMEM_SECOND(...) PGAS_SHMEM_SECOND_OF(__VA_ARGS__, 0, 0)
#define PGAS_SHMEM_SECOND_OF(FIRST, SECOND, ...) SECOND

/// Associations of _Generic for pointers to one type.
#define PGAS_SHMEM_ROW(TYPE, FUNCTION) TYPE* : FUNCTION, const TYPE* : FUNCTION, volatile TYPE* : FUNCTION

/// Associations of _Generic for the types of a family. PRE and POST surround the name of the type.
#define PGAS_SHMEM_LONG_ROWS(PRE, POST)                                       \
  PGAS_SHMEM_ROW(int, PRE##int##POST), PGAS_SHMEM_ROW(long, PRE##long##POST), \
      PGAS_SHMEM_ROW(long long, PRE##longlong##POST)
#define PGAS_SHMEM_UNSIGNED_ROWS(PRE, POST)                                                       \
  PGAS_SHMEM_ROW(unsigned int, PRE##uint##POST), PGAS_SHMEM_ROW(unsigned long, PRE##ulong##POST), \
      PGAS_SHMEM_ROW(unsigned long long, PRE##ulonglong##POST)
#define PGAS_SHMEM_FLOAT_ROWS(PRE, POST) \
  PGAS_SHMEM_ROW(float, PRE##float##POST), PGAS_SHMEM_ROW(double, PRE##double##POST)
#define PGAS_SHMEM_SMALL_ROWS(PRE, POST)                                                        \
  PGAS_SHMEM_ROW(char, PRE##char##POST), PGAS_SHMEM_ROW(signed char, PRE##schar##POST),         \
      PGAS_SHMEM_ROW(short, PRE##short##POST), PGAS_SHMEM_ROW(unsigned char, PRE##uchar##POST), \
      PGAS_SHMEM_ROW(unsigned short, PRE##ushort##POST)

#define PGAS_SHMEM_INTEGER_TYPES(PRE, POST) PGAS_SHMEM_LONG_ROWS(PRE, POST), PGAS_SHMEM_UNSIGNED_ROWS(PRE, POST)
#define PGAS_SHMEM_WORD_TYPES(PRE, POST) PGAS_SHMEM_INTEGER_TYPES(PRE, POST), PGAS_SHMEM_FLOAT_ROWS(PRE, POST)
#define PGAS_SHMEM_RMA_TYPES(PRE, POST) \
  PGAS_SHMEM_WORD_TYPES(PRE, POST), PGAS_SHMEM_SMALL_ROWS(PRE, POST), PGAS_SHMEM_ROW(long double, PRE##longdouble##POST)
#define PGAS_SHMEM_SUM_TYPES(PRE, POST)                                                  \
  PGAS_SHMEM_RMA_TYPES(PRE, POST), PGAS_SHMEM_ROW(double _Complex, PRE##complexd##POST), \
      PGAS_SHMEM_ROW(float _Complex, PRE##complexf##POST)
/// Signed types that are missing in the unsigned associations: bitwise operations also accept int32_t and int64_t.
#define PGAS_SHMEM_BITS_TYPES(PRE, POST)                                          \
  PGAS_SHMEM_UNSIGNED_ROWS(PRE, POST), PGAS_SHMEM_ROW(int32_t, PRE##int32##POST), \
      PGAS_SHMEM_ROW(int64_t, PRE##int64##POST)
#define PGAS_SHMEM_REDUCE_BITS_TYPES(PRE, POST)                                                   \
  PGAS_SHMEM_BITS_TYPES(PRE, POST), PGAS_SHMEM_ROW(unsigned char, PRE##uchar##POST),              \
      PGAS_SHMEM_ROW(unsigned short, PRE##ushort##POST), PGAS_SHMEM_ROW(int8_t, PRE##int8##POST), \
      PGAS_SHMEM_ROW(int16_t, PRE##int16##POST)

/// Selects a function by the type of the first argument.
#define PGAS_SHMEM_BY_FIRST(TYPES, POST, ...) \
  _Generic((PGAS_SHMEM_FIRST(__VA_ARGS__)), TYPES(shmem_, POST), default : pgas_shmem_no_such_type)(__VA_ARGS__)
/// Selects a function by the type of the second argument; the first argument is a team.
#define PGAS_SHMEM_BY_SECOND(TYPES, POST, ...) \
  _Generic((PGAS_SHMEM_SECOND(__VA_ARGS__)), TYPES(shmem_, POST), default : pgas_shmem_no_such_type)(__VA_ARGS__)
/// Selects a function by the type of the first argument that is not a context.
#define PGAS_SHMEM_BY_DATA(TYPES, POST, ...)                                             \
  _Generic((PGAS_SHMEM_FIRST(__VA_ARGS__)), shmem_ctx_t                                  \
           : _Generic((PGAS_SHMEM_SECOND(__VA_ARGS__)), TYPES(shmem_ctx_, POST), default \
                      : pgas_shmem_no_such_type),                                        \
             default                                                                     \
           : _Generic((PGAS_SHMEM_FIRST(__VA_ARGS__)), TYPES(shmem_, POST), default      \
                      : pgas_shmem_no_such_type))(__VA_ARGS__)

// ---- copies, signals, waits ----

#define shmem_put(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_RMA_TYPES, _put, __VA_ARGS__)
#define shmem_get(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_RMA_TYPES, _get, __VA_ARGS__)
#define shmem_put_nbi(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_RMA_TYPES, _put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_RMA_TYPES, _get_nbi, __VA_ARGS__)
#define shmem_p(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_RMA_TYPES, _p, __VA_ARGS__)
#define shmem_g(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_RMA_TYPES, _g, __VA_ARGS__)
#define shmem_iput(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_RMA_TYPES, _iput, __VA_ARGS__)
#define shmem_iget(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_RMA_TYPES, _iget, __VA_ARGS__)
#define shmem_ibput(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_RMA_TYPES, _ibput, __VA_ARGS__)
#define shmem_ibget(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_RMA_TYPES, _ibget, __VA_ARGS__)

#define shmem_put_signal(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_RMA_TYPES, _put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...) PGAS_SHMEM_BY_DATA(PGAS_SHMEM_RMA_TYPES, _put_signal_nbi, __VA_ARGS__)
#define shmem_signal_set(...) \
  _Generic((PGAS_SHMEM_FIRST(__VA_ARGS__)), shmem_ctx_t : shmem_ctx_signal_set, default : shmem_signal_set)(__VA_ARGS__)
#define shmem_signal_add(...) \
  _Generic((PGAS_SHMEM_FIRST(__VA_ARGS__)), shmem_ctx_t : shmem_ctx_signal_add, default : shmem_signal_add)(__VA_ARGS__)

/// The types that waits accept, including the short types of version 1.4.
#define PGAS_SHMEM_WAIT_TYPES(PRE, POST)                                        \
  PGAS_SHMEM_INTEGER_TYPES(PRE, POST), PGAS_SHMEM_ROW(short, PRE##short##POST), \
      PGAS_SHMEM_ROW(unsigned short, PRE##ushort##POST)
#define shmem_wait_until(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WAIT_TYPES, _wait_until, __VA_ARGS__)
#define shmem_wait_until_all(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WAIT_TYPES, _wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WAIT_TYPES, _wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WAIT_TYPES, _wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WAIT_TYPES, _wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WAIT_TYPES, _wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) \
  PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WAIT_TYPES, _wait_until_some_vector, __VA_ARGS__)
#define shmem_test(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WAIT_TYPES, _test, __VA_ARGS__)
#define shmem_test_all(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WAIT_TYPES, _test_all, __VA_ARGS__)
#define shmem_test_any(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WAIT_TYPES, _test_any, __VA_ARGS__)
#define shmem_test_some(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WAIT_TYPES, _test_some, __VA_ARGS__)
#define shmem_test_all_vector(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WAIT_TYPES, _test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WAIT_TYPES, _test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...) PGAS_SHMEM_BY_FIRST(PGAS_SHMEM_WAIT_TYPES, _test_some_vector, __VA_ARGS__)

// ---- atomic operations, also with the names that version 1.4 replaced ----

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

// ---- collectives of teams ----

/// With one argument, a sync of a team; with four arguments, a sync of an active set.
#define shmem_sync(...) \
  _Generic((PGAS_SHMEM_FIRST(__VA_ARGS__)), shmem_team_t : shmem_team_sync, default : shmem_sync)(__VA_ARGS__)

/// The types of minima and maxima: integers and real numbers, including long double, but no complex numbers.
#define PGAS_SHMEM_ORDER_TYPES(PRE, POST) PGAS_SHMEM_RMA_TYPES(PRE, POST)

#define shmem_broadcast(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_RMA_TYPES, _broadcast, __VA_ARGS__)
#define shmem_collect(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_RMA_TYPES, _collect, __VA_ARGS__)
#define shmem_fcollect(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_RMA_TYPES, _fcollect, __VA_ARGS__)
#define shmem_alltoall(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_RMA_TYPES, _alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_RMA_TYPES, _alltoalls, __VA_ARGS__)
#define shmem_and_reduce(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_REDUCE_BITS_TYPES, _and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_REDUCE_BITS_TYPES, _or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_REDUCE_BITS_TYPES, _xor_reduce, __VA_ARGS__)
#define shmem_min_reduce(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_ORDER_TYPES, _min_reduce, __VA_ARGS__)
#define shmem_max_reduce(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_ORDER_TYPES, _max_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_SUM_TYPES, _sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_SUM_TYPES, _prod_reduce, __VA_ARGS__)
#define shmem_sum_inscan(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_SUM_TYPES, _sum_inscan, __VA_ARGS__)
#define shmem_sum_exscan(...) PGAS_SHMEM_BY_SECOND(PGAS_SHMEM_SUM_TYPES, _sum_exscan, __VA_ARGS__)
