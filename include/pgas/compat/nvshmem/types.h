/// @file
/// NVSHMEM's constants with its values, its types with their sizes and members, and their initializers. Includes the
/// headers that programs expect from nvshmem.h: CUDA's types and groups, and assert(). If the program defines
/// PGAS_NVSHMEM_NO_GROUPS first, cooperative_groups.h is not included: nvcc takes as long for cooperative_groups.h as
/// for all other headers together (docs/compiled-code.md).
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

#include "pgas/compat/non_abi/nvshmem_build_options.h"
#include "pgas/compat/non_abi/nvshmem_version.h"

/// The OpenSHMEM version that this interface extends, according to NVSHMEM.
#define NVSHMEM_MAJOR_VERSION 1
#define NVSHMEM_MINOR_VERSION 3

#define NVSHMEM_VENDOR_VERSION \
  (NVSHMEM_VENDOR_MAJOR_VERSION * 10000 + NVSHMEM_VENDOR_MINOR_VERSION * 100 + NVSHMEM_VENDOR_PATCH_VERSION)
#define NVSHMEM_VENDOR_STRING "NVSHMEM v" NVSHMEM_VENDOR_BASE_VERSION_STRING " (pgas)"
/// The size of the longest name, including its terminator.
#define NVSHMEM_MAX_NAME_LEN 256

// ---- statuses and levels ----

/// Statuses of functions that return int: X(name) for each status, numbered from 0.
#define NVSHMEMX_STATUS_LIST(X)              \
  X(NVSHMEMX_SUCCESS)                        \
  X(NVSHMEMX_ERROR_INVALID_VALUE)            \
  X(NVSHMEMX_ERROR_OUT_OF_MEMORY)            \
  X(NVSHMEMX_ERROR_NOT_SUPPORTED)            \
  X(NVSHMEMX_ERROR_SYMMETRY)                 \
  X(NVSHMEMX_ERROR_GPU_NOT_SELECTED)         \
  X(NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED) \
  X(NVSHMEMX_ERROR_INTERNAL)
#define PGAS_NVSHMEM_ITEM(NAME) NAME,
enum nvshmemx_status { NVSHMEMX_STATUS_LIST(PGAS_NVSHMEM_ITEM) NVSHMEMX_ERROR_SENTINEL = INT_MAX };
#undef PGAS_NVSHMEM_ITEM

/// Progress of initialization: nvshmemx_init_status(). All functions work with several PEs on one GPU, so LIMITED_MPG
/// is never returned.
typedef enum {
  NVSHMEM_STATUS_NOT_INITIALIZED = 0,
  NVSHMEM_STATUS_IS_BOOTSTRAPPED,
  NVSHMEM_STATUS_IS_INITIALIZED,
  NVSHMEM_STATUS_LIMITED_MPG,
  NVSHMEM_STATUS_FULL_MPG,
  NVSHMEM_STATUS_INVALID = INT_MAX
} nvshmemx_init_status_t;

/// Thread levels.
typedef enum nvshmemi_thread_support {
  NVSHMEM_THREAD_SINGLE = 0,
  NVSHMEM_THREAD_FUNNELED,
  NVSHMEM_THREAD_SERIALIZED,
  NVSHMEM_THREAD_MULTIPLE,
  NVSHMEM_THREAD_TYPE_SENTINEL = INT_MAX
} nvshmemx_thread_support_t;

/// The methods by which processes find one another: flags of nvshmemx_init_attr(). Without any of the three WITH flags,
/// the processes find one another through the launcher. INIT_MAX is not a flag.
enum {
  NVSHMEMX_INIT_THREAD_PES = 1,
  NVSHMEMX_INIT_WITH_MPI_COMM = 1 << 1,
  NVSHMEMX_INIT_WITH_SHMEM = 1 << 2,
  NVSHMEMX_INIT_WITH_UNIQUEID = 1 << 3,
  NVSHMEMX_INIT_MAX = INT_MIN
};

/// A request to end the job, which NVSHMEM's proxy sends. No function of this interface takes or returns such a
/// request.
typedef enum {
  PROXY_GLOBAL_EXIT_NOT_REQUESTED = 0,
  PROXY_GLOBAL_EXIT_INIT,
  PROXY_GLOBAL_EXIT_REQUESTED,
  PROXY_GLOBAL_EXIT_FINISHED,
  PROXY_GLOBAL_EXIT_MAX_STATE = INT_MAX
} nvshmemx_proxy_status_t;

// ---- arguments of operations ----

/// Comparisons.
typedef enum nvshmemi_cmp_type {
  NVSHMEM_CMP_EQ = 0,
  NVSHMEM_CMP_NE,
  NVSHMEM_CMP_GT,
  NVSHMEM_CMP_LE,
  NVSHMEM_CMP_LT,
  NVSHMEM_CMP_GE,
  NVSHMEM_CMP_SENTINEL = INT_MAX
} nvshmemx_cmp_type_t;

/// Signal operations.
typedef enum { NVSHMEM_SIGNAL_SET = 9, NVSHMEM_SIGNAL_ADD = 10 } nvshmemx_signal_op_t;

/// Special values for arguments that are a queue pair or a PE.
typedef enum {
  NVSHMEMX_QP_HOST = 0,
  NVSHMEMX_QP_DEFAULT = 1,
  NVSHMEMX_QP_ANY = INT_MAX,
  NVSHMEMX_QP_ALL = INT_MAX
} nvshmemx_qp_handle_index_t;
typedef enum { NVSHMEM_PE_INVALID = -1, NVSHMEMX_PE_ANY = 1 << 15, NVSHMEMX_PE_ALL = 1 << 15 } nvshmem_pe_index_t;

/// A queue pair, by number.
typedef int32_t nvshmemx_qp_handle_t;

// ---- teams ----

/// The predefined teams, and other names for their numbers. No team has the numbers SAME_GPU and GPU_LEADERS.
/// TEAM_MC_SHARED contains the load/store accessible PEs; in NVSHMEM it contains the PEs of one multicast object.
/// TEAMS_MIN is the lowest number of a team that the program creates.
typedef enum {
  NVSHMEM_TEAM_INVALID = -1,
  NVSHMEM_TEAM_WORLD = 0,
  NVSHMEM_TEAM_WORLD_INDEX = 0,
  NVSHMEM_TEAM_SHARED = 1,
  NVSHMEM_TEAM_SHARED_INDEX = 1,
  NVSHMEMX_TEAM_NODE = 2,
  NVSHMEM_TEAM_NODE_INDEX = 2,
  NVSHMEMX_TEAM_SAME_MYPE_NODE = 3,
  NVSHMEM_TEAM_SAME_MYPE_NODE_INDEX = 3,
  NVSHMEM_TEAM_SAME_GPU_INDEX = 4,
  NVSHMEM_TEAM_GPU_LEADERS_INDEX = 5,
  NVSHMEM_TEAM_MC_SHARED = 6,
  NVSHMEM_TEAM_MC_SHARED_INDEX = 6,
  NVSHMEM_TEAMS_MIN = 7,
  NVSHMEM_TEAM_INDEX_MAX = INT_MAX
} nvshmem_team_id_t;

/// A team, by number.
typedef int32_t nvshmem_team_t;
typedef nvshmem_team_t nvshmemx_team_t;
/// The unique id of a team, for nvshmemx_team_init().
typedef uint64_t nvshmemx_team_uniqueid_t;

/// Bits of a mask: the data members of a team's configuration that a function reads.
#define NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS 0x0000000000000001
#define NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID 0x0000000000000002

/// The version of a struct, in its first data member. Functions accept only the newest version of each struct.
#define PGAS_NVSHMEM_VERSION(NUMBER, TYPE) (((NUMBER) << 16) + static_cast<int>(sizeof(TYPE)))

/// Configuration of a team. `num_contexts` is only stored, so that a query can return it; -1 means not set.
typedef struct {
  int version;
  int num_contexts;
  nvshmemx_team_uniqueid_t uniqueid;
  char padding[48];
} nvshmem_team_config_v2;
typedef struct {
  int version;
  int num_contexts;
  char padding[56];
} nvshmem_team_config_v1;
typedef nvshmem_team_config_v2 nvshmem_team_config_t;

/// A unique id that is not set.
#define NVSHMEM_TEAM_UNIQUID_INITIALIZER 0xFFFFFFFFFFFFFFFF
#define NVSHMEM_TEAM_CONFIG_INITIALIZER                                                         \
  {                                                                                             \
    PGAS_NVSHMEM_VERSION(2, nvshmem_team_config_t), -1, NVSHMEM_TEAM_UNIQUID_INITIALIZER, { 0 } \
  }

// ---- initialization ----

/// A unique id of a job: one process obtains it, and the program sends it to all processes.
typedef struct {
  int version;
  char internal[124];
} nvshmemx_uniqueid_v1;
typedef nvshmemx_uniqueid_v1 nvshmemx_uniqueid_t;

/// The rank of this process, and the number of processes that share the unique id.
typedef struct {
  int version;
  nvshmemx_uniqueid_v1* id;
  int myrank;
  int nranks;
} nvshmemx_uniqueid_args_v1;
typedef nvshmemx_uniqueid_args_v1 nvshmemx_uniqueid_args_t;

typedef struct {
  int version;
  nvshmemx_uniqueid_args_t uid_args;
  int cuda_device_id;  ///< GPU of this PE, which need not be current yet; negative: the current GPU
  char content[92];
} nvshmemx_init_args_v2;
typedef struct {
  int version;
  nvshmemx_uniqueid_args_t uid_args;
  char content[96];
} nvshmemx_init_args_v1;
typedef nvshmemx_init_args_v2 nvshmemx_init_args_t;

/// Attributes of nvshmemx_init_attr(). Data members that the flags do not select may be uninitialized, as in many
/// programs.
typedef struct {
  int version;
  void* mpi_comm;  ///< points to an MPI_Comm
  nvshmemx_init_args_t args;
} nvshmemx_init_attr_v2;
typedef struct {
  int version;
  void* mpi_comm;
  nvshmemx_init_args_t args;
} nvshmemx_init_attr_v1;
typedef nvshmemx_init_attr_v2 nvshmemx_init_attr_t;

#define NVSHMEM_INIT_ATTR_VER 1
#define NVSHMEM_INIT_ARGS_V2_IDENTIFIER PGAS_NVSHMEM_VERSION(2, nvshmemx_init_args_t)
#define NVSHMEM_INIT_ATTR_V1_IDENTIFIER PGAS_NVSHMEM_VERSION(1, nvshmemx_init_attr_t)
#define NVSHMEM_INIT_ATTR_V2_IDENTIFIER PGAS_NVSHMEM_VERSION(2, nvshmemx_init_attr_t)

#define NVSHMEMX_UNIQUEID_INITIALIZER                   \
  {                                                     \
    PGAS_NVSHMEM_VERSION(1, nvshmemx_uniqueid_t), { 0 } \
  }
#define NVSHMEMX_UNIQUEID_ARGS_INITIALIZER \
  { PGAS_NVSHMEM_VERSION(1, nvshmemx_uniqueid_args_t), NULL, -1, -1 }
/// The initializer for version 1 of the struct, which has no GPU number.
#define NVSHMEMX_INIT_ARGS_INITIALIZER                                                       \
  {                                                                                          \
    PGAS_NVSHMEM_VERSION(1, nvshmemx_init_args_t), NVSHMEMX_UNIQUEID_ARGS_INITIALIZER, { 0 } \
  }
#define NVSHMEMX_INIT_ARGS_V2_INITIALIZER                                          \
  {                                                                                \
    NVSHMEM_INIT_ARGS_V2_IDENTIFIER, NVSHMEMX_UNIQUEID_ARGS_INITIALIZER, -1, { 0 } \
  }
#define NVSHMEMX_INIT_ATTR_V1_INITIALIZER \
  { NVSHMEM_INIT_ATTR_V1_IDENTIFIER, NULL, NVSHMEMX_INIT_ARGS_INITIALIZER }
#define NVSHMEMX_INIT_ATTR_INITIALIZER \
  { NVSHMEM_INIT_ATTR_V2_IDENTIFIER, NULL, NVSHMEMX_INIT_ARGS_V2_INITIALIZER }
/// Sets the versions of attributes to 1 and leaves the other data unchanged.
#define nvshmemx_init_init_attr_ver_only(ATTR)                                        \
  do {                                                                                \
    (ATTR).version = NVSHMEM_INIT_ATTR_V1_IDENTIFIER;                                 \
    (ATTR).args.version = PGAS_NVSHMEM_VERSION(1, nvshmemx_init_args_t);              \
    (ATTR).args.uid_args.version = PGAS_NVSHMEM_VERSION(1, nvshmemx_uniqueid_args_t); \
  } while (0)

// ---- regions and lent shared memory ----

/// The region of a thread of the host, or of a block. region.h describes regions.
typedef uint64_t nvshmemx_region_handle_t;
/// The purpose of a region.
typedef enum {
  NVSHMEMX_REGION_HINT_NONE = 0,
  NVSHMEMX_REGION_HINT_BATCH_RMA = 1u << 0  ///< nonblocking copies may be sent together
} nvshmemx_region_hint_t;

#define NVSHMEMX_REGION_ATTRS_RESERVED_BYTES 60
typedef struct nvshmemx_region_attrs {
  uint32_t hints;  ///< bits of nvshmemx_region_hint_t
  char reserved[NVSHMEMX_REGION_ATTRS_RESERVED_BYTES];
} nvshmemx_region_attrs_t;
#define NVSHMEMX_REGION_ATTRS_INITIALIZER \
  {                                       \
    NVSHMEMX_REGION_HINT_NONE, { 0 }      \
  }

/// The amount of shared memory that nvshmemx_ask_smem() returns. lent_memory.h describes the function.
typedef enum nvshmemx_smem_amount_t {
  NVSHMEMX_SMEM_RECOMMENDED = 0,
  NVSHMEMX_SMEM_MINIMUM = 1,
  NVSHMEMX_SMEM_BARRIERS_ONLY = 2,
  NVSHMEMX_SMEM_AMOUNT_MAX = INT_MAX
} nvshmemx_smem_amount_t;

/// Whether lent shared memory is used: the values of the environment variable NVSHMEM_TMA_POLICY.
typedef enum {
  NVSHMEMX_TMA_DISABLE = 0,
  NVSHMEMX_TMA_ENABLE = 1,
  NVSHMEMX_TMA_FORCE = 2,
  NVSHMEMX_TMA_POLICY_MAX = INT_MAX
} nvshmemx_tma_policy_t;

static_assert(sizeof(nvshmem_team_config_v1) == 64 && sizeof(nvshmem_team_config_v2) == 64 &&
                  sizeof(nvshmemx_uniqueid_v1) == 128 && sizeof(nvshmemx_uniqueid_args_v1) == 24 &&
                  sizeof(nvshmemx_init_args_v1) == 128 && sizeof(nvshmemx_init_args_v2) == 128 &&
                  sizeof(nvshmemx_init_attr_v1) == 144 && sizeof(nvshmemx_init_attr_v2) == 144 &&
                  sizeof(nvshmemx_region_attrs_t) == 64,
              "other sizes than NVSHMEM's");
