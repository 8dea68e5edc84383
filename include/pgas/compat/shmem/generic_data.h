/// @file
/// C11: the type-generic names of copies, signals and waits.
#pragma once

#include "generic.h"

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

/// Also the short ones, which 1.4 has.
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
