/// @file
/// All typed functions, and those that kernels can call.
#pragma once

#include "pgas/compat/nvshmem/atomic.h"
#include "pgas/compat/nvshmem/collective.h"
#include "pgas/compat/nvshmem/order.h"
#include "pgas/compat/nvshmem/qp.h"
#include "pgas/compat/nvshmem/query.h"
#include "pgas/compat/nvshmem/reduce.h"
#include "pgas/compat/nvshmem/rma.h"
#include "pgas/compat/nvshmem/signal.h"
#include "pgas/compat/nvshmem/wait.h"
#if !defined(__CUDACC_RTC__)
#include "pgas/compat/nvshmem/stream.h"
#include "pgas/compat/nvshmem/stream_collective.h"
#endif

// What only served to write them.
#undef PGAS_NVSHMEM_FN
#undef PGAS_NVSHMEM_DEVICE_FN
#undef PGAS_NVSHMEM_DEVICE_ONLY
#undef PGAS_NVSHMEM_CONTEXT
#undef PGAS_NVSHMEM_GROUP_warp
#undef PGAS_NVSHMEM_GROUP_block
#undef PGAS_NVSHMEM_GROUP_warpgroup
#undef PGAS_NVSHMEM_TEAM
#undef PGAS_NVSHMEM_WITH_TEAM
#undef PGAS_NVSHMEM_SIDES
#undef PGAS_NVSHMEM_TYPES
#undef PGAS_NVSHMEM_ON_DEVICE
