/// @file
/// pgas' own operations, for rows whose operations NVSHMEM does not have. These operations use the same context as
/// nvshmem.h.
#pragma once

#include <nvshmem.h>

#include <pgas/device.hpp>

namespace side_by_side {

#if defined(PGAS_NVSHMEM_DIRECT)
__device__ inline pgas::direct_context context() { return pgas::direct_context(pgas_nvshmem_device_state.context); }
#else
__device__ inline const pgas::context& context() { return pgas_nvshmem_device_state.context; }
#endif

}  // namespace side_by_side
