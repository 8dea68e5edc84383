/// @file
/// Regions: a host thread, or a block, announces that it will issue a sequence of nonblocking copies until it stops the
/// region. A library may then send these copies together (NVSHMEMX_REGION_HINT_BATCH_RMA).
///
/// In this library a copy is issued when its function is called, inside and outside a region: delaying loads and stores
/// has no benefit, and the proxy combines queued commands in any case. Stopping a region therefore sends no copies and
/// completes no copies. quiet, fence, barriers and signals have the same meaning inside a region as outside.
///
/// A thread or a block can be in one region at a time. The region ends when the thread or block ends, or with
/// nvshmem_finalize(). A host thread's region does not apply to threads that this thread starts. @return An
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

/// Start and stop a region of the calling block. *Callers* all threads of the block. The function uses the attributes
/// that the first thread passes, and all threads receive the handle.
PGAS_NVSHMEM_DEVICE_FN int nvshmemx_region_start_block(nvshmemx_region_handle_t* handle,
                                                       const nvshmemx_region_attrs_t* attrs) {
  return pgas::compat::start_region(pgas_nvshmem_block_region(), PGAS_NVSHMEM_GROUP_block, handle, attrs);
}
PGAS_NVSHMEM_DEVICE_FN int nvshmemx_region_stop_block(nvshmemx_region_handle_t handle) {
  return pgas::compat::stop_region(pgas_nvshmem_block_region(), PGAS_NVSHMEM_GROUP_block, handle);
}
#endif

/// Whether the calling thread (on the host) or block (in a kernel) is in a region that has all these hints.
PGAS_NVSHMEM_FN int nvshmemx_region_is_active(uint32_t hints, int* active) {
  PGAS_NVSHMEM_BODY(pgas::compat::is_region_active(pgas_nvshmem_block_region(), hints, active),
                    pgas_nvshmem_region_is_active(hints, active));
}
