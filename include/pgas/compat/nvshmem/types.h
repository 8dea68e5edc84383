/// @file
/// NVSHMEM's constants with its values, its types with their sizes, and their initializers. Includes the headers that
/// programs expect from nvshmem.h: CUDA's types and groups, and assert(). PGAS_NVSHMEM_NO_GROUPS, defined before,
/// leaves cooperative_groups.h to those who use it: it takes nvcc as long as all the rest (docs/compiled-code.md).
#pragma once

#include <assert.h>
#ifndef PGAS_NVSHMEM_NO_GROUPS
#include <cooperative_groups.h>  // empty without nvcc
#endif
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "pgas/compat/non_abi/nvshmem_version.h"

/// The OpenSHMEM version whose interface this is an extension of, as NVSHMEM states it.
#define NVSHMEM_MAJOR_VERSION 1
#define NVSHMEM_MINOR_VERSION 3

#define NVSHMEM_VENDOR_VERSION \
  (NVSHMEM_VENDOR_MAJOR_VERSION * 10000 + NVSHMEM_VENDOR_MINOR_VERSION * 100 + NVSHMEM_VENDOR_PATCH_VERSION)
#define NVSHMEM_VENDOR_STRING "NVSHMEM v3.5.0 (pgas)"
/// Bytes of the longest name, its end included.
#define NVSHMEM_MAX_NAME_LEN 256

/// Statuses of functions that return int.
enum nvshmemx_status {
  NVSHMEMX_SUCCESS = 0,
  NVSHMEMX_ERROR_INVALID_VALUE,
  NVSHMEMX_ERROR_OUT_OF_MEMORY,
  NVSHMEMX_ERROR_NOT_SUPPORTED,
  NVSHMEMX_ERROR_SYMMETRY,
  NVSHMEMX_ERROR_GPU_NOT_SELECTED,
  NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED,
  NVSHMEMX_ERROR_INTERNAL,
  NVSHMEMX_ERROR_SENTINEL = INT_MAX
};

/// Progress of initialization: nvshmemx_init_status(). Everything works with several PEs on one GPU, so LIMITED_MPG is
/// never returned.
enum {
  NVSHMEM_STATUS_NOT_INITIALIZED = 0,
  NVSHMEM_STATUS_IS_BOOTSTRAPPED,
  NVSHMEM_STATUS_IS_INITIALIZED,
  NVSHMEM_STATUS_LIMITED_MPG,
  NVSHMEM_STATUS_FULL_MPG
};

/// Thread levels.
enum { NVSHMEM_THREAD_SINGLE = 0, NVSHMEM_THREAD_FUNNELED, NVSHMEM_THREAD_SERIALIZED, NVSHMEM_THREAD_MULTIPLE };

/// How processes find one another: flags of nvshmemx_init_attr(). Without one of the last three: through the launcher.
enum {
  NVSHMEMX_INIT_THREAD_PES = 1,
  NVSHMEMX_INIT_WITH_MPI_COMM = 1 << 1,
  NVSHMEMX_INIT_WITH_SHMEM = 1 << 2,
  NVSHMEMX_INIT_WITH_UNIQUEID = 1 << 3
};

/// Comparisons.
enum { NVSHMEM_CMP_EQ = 0, NVSHMEM_CMP_NE, NVSHMEM_CMP_GT, NVSHMEM_CMP_LE, NVSHMEM_CMP_LT, NVSHMEM_CMP_GE };

/// Signal operations.
enum { NVSHMEM_SIGNAL_SET = 9, NVSHMEM_SIGNAL_ADD = 10 };

/// The predefined teams.
enum {
  NVSHMEM_TEAM_INVALID = -1,
  NVSHMEM_TEAM_WORLD = 0,
  NVSHMEM_TEAM_SHARED = 1,
  NVSHMEMX_TEAM_NODE = 2,
  NVSHMEMX_TEAM_SAME_MYPE_NODE = 3
};

/// Which members of a team's configuration count.
enum { NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS = 1, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID = 2 };

/// Values of queue pair and PE arguments.
enum { NVSHMEMX_QP_HOST = 0, NVSHMEMX_QP_DEFAULT = 1, NVSHMEMX_QP_ANY = INT_MAX, NVSHMEMX_QP_ALL = INT_MAX };
enum { NVSHMEMX_PE_ANY = 1 << 15, NVSHMEMX_PE_ALL = 1 << 15 };

/// A team, by number.
typedef int32_t nvshmem_team_t;
typedef nvshmem_team_t nvshmemx_team_t;
/// A queue pair, by number.
typedef int32_t nvshmemx_qp_handle_t;
/// The unique id of a team, for nvshmemx_team_init().
typedef uint64_t nvshmemx_team_uniqueid_t;

/// Configuration of a team. `num_contexts` is only kept for the query.
typedef struct {
  int version;
  int num_contexts;
  nvshmemx_team_uniqueid_t uniqueid;
  char padding[48];
} nvshmem_team_config_t;

/// A unique id of a job: one process gets it, the program sends it to all.
typedef struct {
  int version;
  char internal[124];
} nvshmemx_uniqueid_t;

/// The rank of this process, and the number of processes that share the unique id.
typedef struct {
  int version;
  nvshmemx_uniqueid_t* id;
  int myrank;
  int nranks;
} nvshmemx_uniqueid_args_t;

typedef struct {
  int version;
  nvshmemx_uniqueid_args_t uid_args;
  int cuda_device_id;  ///< the GPU of this PE, which need not be current yet; negative: the current one
  char content[92];
} nvshmemx_init_args_t;

/// Attributes of nvshmemx_init_attr(). Members that the flags do not ask for may be uninitialized, as in many programs.
typedef struct {
  int version;
  void* mpi_comm;  ///< points to an MPI_Comm
  nvshmemx_init_args_t args;
} nvshmemx_init_attr_t;

#define NVSHMEM_TEAM_CONFIG_INITIALIZER                                      \
  {                                                                          \
    (1 << 16) + static_cast<int>(sizeof(nvshmem_team_config_t)), 0, 0, { 0 } \
  }
#define NVSHMEMX_UNIQUEID_INITIALIZER                                \
  {                                                                  \
    (1 << 16) + static_cast<int>(sizeof(nvshmemx_uniqueid_t)), { 0 } \
  }
#define NVSHMEMX_UNIQUEID_ARGS_INITIALIZER \
  { (1 << 16) + static_cast<int>(sizeof(nvshmemx_uniqueid_args_t)), NULL, 0, 0 }
#define NVSHMEMX_INIT_ARGS_INITIALIZER                                                                        \
  {                                                                                                           \
    (2 << 16) + static_cast<int>(sizeof(nvshmemx_init_args_t)), NVSHMEMX_UNIQUEID_ARGS_INITIALIZER, -1, { 0 } \
  }
#define NVSHMEMX_INIT_ATTR_INITIALIZER \
  { (1 << 16) + static_cast<int>(sizeof(nvshmemx_init_attr_t)), NULL, NVSHMEMX_INIT_ARGS_INITIALIZER }

static_assert(sizeof(nvshmem_team_config_t) == 64 && sizeof(nvshmemx_uniqueid_t) == 128 &&
                  sizeof(nvshmemx_uniqueid_args_t) == 24 && sizeof(nvshmemx_init_args_t) == 128 &&
                  sizeof(nvshmemx_init_attr_t) == 144,
              "other sizes than NVSHMEM's");
