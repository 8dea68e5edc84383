/// @file
/// Launching kernels whose blocks wait for other PEs: all of them run at once, or the launch fails. Compiled in the
/// program's own unit, as kernels are known to the CUDA runtime of that unit.
#pragma once

#include "pgas/compat/nvshmem/host.h"
#include "pgas/compat/nvshmem/types.h"

namespace pgas::compat {

/// How many blocks of a kernel run at once on the current GPU for each PE that shares it; 0 if none does.
inline cudaError_t resident_blocks(const void* func, dim3 block, size_t shared_bytes, int* blocks) {
  int device = 0;
  int processors = 0;
  int each = 0;
  const int threads = static_cast<int>(block.x * block.y * block.z);
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess) status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, func, threads, shared_bytes);
  *blocks = processors * each / pgas_nvshmem_pes_at_once();
  return status;
}

/// The status of a launch; what the CUDA runtime says is also left for cudaGetLastError().
inline int launch_status(cudaError_t status) {
  return status == cudaSuccess ? NVSHMEMX_SUCCESS : NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED;
}

}  // namespace pgas::compat

/// The largest grid of blocks of this shape that nvshmemx_collective_launch() takes. *On return* an nvshmemx_status.
inline int nvshmemx_collective_launch_query_gridsize(const void* func, dim3 blockDims, void** args, size_t sharedMem,
                                                     int* gridsize) {
  static_cast<void>(args);
  if (const int joined = pgas_nvshmem_join(); joined != NVSHMEMX_SUCCESS) return joined;
  if (func == nullptr || gridsize == nullptr) return NVSHMEMX_ERROR_INVALID_VALUE;
  return pgas::compat::launch_status(pgas::compat::resident_blocks(func, blockDims, sharedMem, gridsize));
}

/// Collective: starts a kernel on every PE, by a cooperative launch. A grid of 0 blocks is the largest that there may
/// be. *On return* an nvshmemx_status; NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED where the blocks do not fit, together
/// with as many of each other PE that shares the GPU.
inline int nvshmemx_collective_launch(const void* func, dim3 gridDims, dim3 blockDims, void** args, size_t sharedMem,
                                      cudaStream_t stream) {
  if (const int joined = pgas_nvshmem_join(); joined != NVSHMEMX_SUCCESS) return joined;
  if (func == nullptr) return NVSHMEMX_ERROR_INVALID_VALUE;
  const bool largest = gridDims.x == 0 || gridDims.y == 0 || gridDims.z == 0;
  if (largest || pgas_nvshmem_pes_at_once() > 1) {  // the CUDA runtime counts for this PE alone
    int blocks = 0;
    const cudaError_t status = pgas::compat::resident_blocks(func, blockDims, sharedMem, &blocks);
    if (status != cudaSuccess || blocks == 0) return NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED;
    if (largest) gridDims = dim3(static_cast<unsigned>(blocks), 1, 1);
    const auto asked = static_cast<unsigned long long>(gridDims.x) * gridDims.y * gridDims.z;
    if (asked > static_cast<unsigned>(blocks)) return NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED;
  }
  return pgas::compat::launch_status(cudaLaunchCooperativeKernel(func, gridDims, blockDims, args, sharedMem, stream));
}
