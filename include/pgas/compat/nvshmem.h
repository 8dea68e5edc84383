/// @file
/// NVSHMEM's interface on top of pgas: existing programs compile unchanged. Host functions are declared in any C++17
/// translation unit, device functions under nvcc, with and without -rdc=true. Link to nvshmem_host (and nvshmem_device,
/// which is empty).
///
/// PGAS_NVSHMEM_DIRECT, defined before the first include, requires that all PEs are load/store accessible: device calls
/// then compile to loads and stores only (pgas::direct_context). If some PEs are not load/store accessible, joining
/// ends with an error.
///
/// *Errors* on failure, host functions that return a status return nonzero, and host functions that return a pointer
/// return null. All other host functions log the failure with their name and end the processes of all PEs with status
/// 1, as nvshmem_global_exit() does.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/compat/nvshmem/types.h"
#if !defined(__CUDACC_RTC__)
#include "pgas/compat/nvshmem/init_memory_teams.h"
#include "pgas/compat/nvshmem/launch.h"
#endif
#include "pgas/compat/nvshmemx_error.h"

// Typed functions, and functions that kernels can call.
#include "pgas/compat/nvshmem/atomic.h"
#include "pgas/compat/nvshmem/collective.h"
#include "pgas/compat/nvshmem/lent_memory.h"
#include "pgas/compat/nvshmem/qp.h"
#include "pgas/compat/nvshmem/query.h"
#include "pgas/compat/nvshmem/region.h"
#include "pgas/compat/nvshmem/rma.h"
#include "pgas/compat/nvshmem/signal_wait.h"
#if !defined(__CUDACC_RTC__)
#include "pgas/compat/nvshmem/stream.h"
#endif

// Macros for internal use by these headers.
#undef PGAS_NVSHMEM_INLINE
#undef PGAS_NVSHMEM_FN
#undef PGAS_NVSHMEM_DEVICE_FN
#undef PGAS_NVSHMEM_DEVICE_ONLY
#undef PGAS_NVSHMEM_CONTEXT
#undef PGAS_NVSHMEM_GROUP_warp
#undef PGAS_NVSHMEM_GROUP_block
#undef PGAS_NVSHMEM_GROUP_warpgroup
#undef PGAS_NVSHMEM_TEAM
#undef PGAS_NVSHMEM_WITH_TEAM
#undef PGAS_NVSHMEM_BODY
#undef PGAS_NVSHMEM_TYPES
#undef PGAS_NVSHMEM_ON_DEVICE

#include "pgas/detail/names_end.inc"
