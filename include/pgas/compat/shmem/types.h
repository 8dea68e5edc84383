/// @file
/// Types, handles and constants of OpenSHMEM.
#pragma once

#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
#include <complex>
#endif

/// Selects the types of types.inc that only OpenSHMEM has.
#define PGAS_OPENSHMEM_TYPES
#ifndef PGAS_COMPLEX_DOUBLE
#ifdef __cplusplus
#define PGAS_COMPLEX_DOUBLE std::complex<double>
#define PGAS_COMPLEX_FLOAT std::complex<float>
#else
#define PGAS_COMPLEX_DOUBLE double _Complex
#define PGAS_COMPLEX_FLOAT float _Complex
#endif
#endif

#ifdef __GNUC__
#define PGAS_SHMEM_API __attribute__((visibility("default")))
#else
#define PGAS_SHMEM_API
#endif

/// Declares a function under its name and under its profiling name.
#define PGAS_SHMEM_DECLARE(RESULT, NAME, PARAMETERS) \
  PGAS_SHMEM_API RESULT shmem_##NAME PARAMETERS;     \
  PGAS_SHMEM_API RESULT pshmem_##NAME PARAMETERS;

/// Declares a function without and with a context. The other arguments of the macro are the parameters of the function.
#define PGAS_SHMEM_DECLARE_CTX(RESULT, NAME, ...) \
  PGAS_SHMEM_DECLARE(RESULT, NAME, (__VA_ARGS__)) \
  PGAS_SHMEM_DECLARE(RESULT, ctx_##NAME, (shmem_ctx_t ctx, __VA_ARGS__))

#ifdef __cplusplus
extern "C" {
#endif

/// A team. Handles differ between members.
typedef struct pgas_shmem_team* shmem_team_t;
/// A context.
typedef struct pgas_shmem_ctx* shmem_ctx_t;

/// Configuration of a team.
typedef struct {
  int num_contexts;  ///< expected number of contexts; more are allowed
} shmem_team_config_t;

/// Configuration of a session.
typedef struct {
  size_t total_ops;  ///< expected number of operations
} shmem_ctx_session_config_t;

#ifdef __cplusplus
}
#define PGAS_SHMEM_HANDLE(TYPE, NUMBER) (reinterpret_cast<TYPE>(static_cast<intptr_t>(NUMBER)))
#else
#define PGAS_SHMEM_HANDLE(TYPE, NUMBER) ((TYPE)(intptr_t)(NUMBER))
#endif

#define SHMEM_TEAM_INVALID PGAS_SHMEM_HANDLE(shmem_team_t, 0)
#define SHMEM_TEAM_WORLD PGAS_SHMEM_HANDLE(shmem_team_t, 1)
/// The PEs that access one another's memory by loads and stores.
#define SHMEM_TEAM_SHARED PGAS_SHMEM_HANDLE(shmem_team_t, 2)
/// The PEs of this host.
#define SHMEM_TEAM_NODE PGAS_SHMEM_HANDLE(shmem_team_t, 3)
#define SHMEM_TEAM_NUM_CONTEXTS 1L

#define SHMEM_CTX_INVALID PGAS_SHMEM_HANDLE(shmem_ctx_t, 0)
#define SHMEM_CTX_DEFAULT PGAS_SHMEM_HANDLE(shmem_ctx_t, 1)
#define SHMEM_CTX_SERIALIZED 1L
#define SHMEM_CTX_PRIVATE 2L
#define SHMEM_CTX_NOSTORE 4L
#define SHMEM_CTX_SESSION_BATCH 1L
#define SHMEM_CTX_SESSION_SAME_AMO 2L
#define SHMEM_CTX_SESSION_TOTAL_OPS 1L

#define SHMEM_THREAD_SINGLE 0
#define SHMEM_THREAD_FUNNELED 1
#define SHMEM_THREAD_SERIALIZED 2
#define SHMEM_THREAD_MULTIPLE 3

#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 5
#define SHMEM_MAX_NAME_LEN 64
#define SHMEM_VENDOR_STRING "pgas"

#define SHMEM_CMP_EQ 0
#define SHMEM_CMP_NE 1
#define SHMEM_CMP_GT 2
#define SHMEM_CMP_LE 3
#define SHMEM_CMP_LT 4
#define SHMEM_CMP_GE 5

#define SHMEM_SIGNAL_SET 9
#define SHMEM_SIGNAL_ADD 10

#define SHMEM_MALLOC_ATOMICS_REMOTE 1L
#define SHMEM_MALLOC_SIGNAL_REMOTE 2L

/// Constants for the work arrays of active-set collectives. The library does not use these arrays, because the first
/// collective of a set allocates the work memory of the set.
#define SHMEM_SYNC_VALUE (-1L)
#define SHMEM_SYNC_SIZE 4
#define SHMEM_BARRIER_SYNC_SIZE 4
#define SHMEM_BCAST_SYNC_SIZE 4
#define SHMEM_COLLECT_SYNC_SIZE 4
#define SHMEM_REDUCE_SYNC_SIZE 4
#define SHMEM_ALLTOALL_SYNC_SIZE 4
#define SHMEM_ALLTOALLS_SYNC_SIZE 4
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 4

/// The names that were used before version 1.3.
#define _SHMEM_MAJOR_VERSION SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ SHMEM_CMP_EQ
#define _SHMEM_CMP_NE SHMEM_CMP_NE
#define _SHMEM_CMP_GT SHMEM_CMP_GT
#define _SHMEM_CMP_LE SHMEM_CMP_LE
#define _SHMEM_CMP_LT SHMEM_CMP_LT
#define _SHMEM_CMP_GE SHMEM_CMP_GE
#define _SHMEM_SYNC_VALUE SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE
