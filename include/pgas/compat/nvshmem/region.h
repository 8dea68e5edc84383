/// @file
/// Regions: a thread of the host, or a block, says that nonblocking copies follow one another until it stops the
/// region, so that a library may send them together (NVSHMEMX_REGION_HINT_BATCH_RMA).
///
/// Here copies are issued when they are called, in a region and outside: load and store have nothing to gain by
/// waiting, and the proxy takes what lies in its queue together anyway. So a stop sends nothing that is late, and
/// completes nothing: quiet, fence, barriers and signals mean in a region what they mean elsewhere.
///
/// A thread or a block is in one region at a time, which ends with it, or with nvshmem_finalize(); threads that the
/// host's starts are in none. *On return* an
/// nvshmemx_status: NVSHMEMX_ERROR_INVALID_VALUE for null pointers, unknown hints, a second region, and the handle of
/// another region. Null attributes mean NVSHMEMX_REGION_ATTRS_INITIALIZER.
#pragma once

#include "pgas/compat/nvshmem/host_device.h"

#if !defined(__CUDACC_RTC__)
#pragma GCC visibility push(default)
extern "C" {
/// Starts and stops a region of the calling thread.
int nvshmemx_region_start(nvshmemx_region_handle_t* handle, const nvshmemx_region_attrs_t* attrs);
int nvshmemx_region_stop(nvshmemx_region_handle_t handle);
}  // extern "C"
#pragma GCC visibility pop
#endif

#if defined(PGAS_NVSHMEM_ON_DEVICE)
#include "pgas/compat/nvshmem/block_region.h"

/// The region of the calling block: 24 bytes of shared memory in kernels that use regions.
PGAS_NVSHMEM_DEVICE_FN pgas::compat::block_region& pgas_nvshmem_block_region() {
  __shared__ pgas::compat::block_region own;
  return own;
}

/// Start and stop a region of the calling block. *Callers* all threads of the block; the attributes of its first thread
/// count, and all get the handle.
PGAS_NVSHMEM_DEVICE_FN int nvshmemx_region_start_block(nvshmemx_region_handle_t* handle,
                                                       const nvshmemx_region_attrs_t* attrs) {
  return pgas::compat::start_region(pgas_nvshmem_block_region(), PGAS_NVSHMEM_GROUP_block, handle, attrs);
}
PGAS_NVSHMEM_DEVICE_FN int nvshmemx_region_stop_block(nvshmemx_region_handle_t handle) {
  return pgas::compat::stop_region(pgas_nvshmem_block_region(), PGAS_NVSHMEM_GROUP_block, handle);
}
#endif

/// Whether the caller's thread, or block, is in a region that has all these hints.
PGAS_NVSHMEM_FN int nvshmemx_region_is_active(uint32_t hints, int* active) {
  PGAS_NVSHMEM_BODY(pgas::compat::is_region_active(pgas_nvshmem_block_region(), hints, active),
                    pgas_nvshmem_region_is_active(hints, active));
}
