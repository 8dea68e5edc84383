/// @file
/// NVSHMEM's types with their sizes, and their initializers. Includes the headers that programs expect from nvshmem.h:
/// CUDA's types and groups, and assert().
#pragma once

#include <assert.h>
#include <cooperative_groups.h>  // empty without nvcc
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#include "pgas/compat/nvshmem/constants.h"

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
