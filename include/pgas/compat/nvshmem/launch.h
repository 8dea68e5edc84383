/// @file
/// Launches of kernels with blocks that wait for other PEs: all blocks are resident, or the launch fails. Compiled in
/// the program's translation unit, because only that unit's CUDA runtime knows the kernels.
#pragma once

#include "pgas/compat/nvshmem/host_abi.h"
#include "pgas/compat/nvshmem/types.h"

namespace pgas::compat {

inline unsigned threads_in(dim3 block) { return block.x * block.y * block.z; }

/// The maximum number of blocks of a kernel that can be resident for this PE on the current GPU; 0 if no block fits.
inline cudaError_t resident_blocks(const void* func, dim3 block, size_t shared_bytes, unsigned* blocks) {
  int device = 0;
  int processors = 0;
  int each = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  const int threads = static_cast<int>(threads_in(block));
  if (status == cudaSuccess) status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, func, threads, shared_bytes);
  cudaFuncAttributes about{};
  if (status == cudaSuccess) status = cudaFuncGetAttributes(&about, func);
  const int admitted =
      status == cudaSuccess ? pgas_nvshmem_admitted_blocks(processors, each, threads, about.numRegs) : 0;
  *blocks = static_cast<unsigned>(admitted);
  return status;
}

/// Launches a grid on all PEs. All blocks of the grid must be resident. With 0 blocks, launches the largest grid whose
/// blocks can all be resident. @param start launches a grid of this size and returns the CUDA runtime's status
template <class Start>
int collective_launch(const void* func, dim3 grid, dim3 block, size_t shared_bytes, Start start,
                      const char* function = __builtin_FUNCTION()) {
  if (const int joined = pgas_nvshmem_join(); joined != NVSHMEMX_SUCCESS) return joined;
  if (func == nullptr) return NVSHMEMX_ERROR_INVALID_VALUE;
  const bool largest = grid.x == 0 || grid.y == 0 || grid.z == 0;
  unsigned fit = 0;  // computed here, because the CUDA runtime does not know of other PEs on this GPU
  cudaError_t status = resident_blocks(func, block, shared_bytes, &fit);
  if (largest) grid = dim3(fit != 0 ? fit : 1, 1, 1);
  const auto asked = static_cast<unsigned long long>(grid.x) * grid.y * grid.z;
  const bool fits = asked <= fit;
  if (status == cudaSuccess && fits) status = start(grid);
  if (status == cudaSuccess && fits) return NVSHMEMX_SUCCESS;
  const bool too_large = status == cudaSuccess || status == cudaErrorCooperativeLaunchTooLarge;
  return pgas_nvshmem_launch_failed(function, asked, threads_in(block), fit,
                                    too_large ? nullptr : cudaGetErrorString(status));
}

}  // namespace pgas::compat

/// The attributes of a launch: the CUDA runtime's launch configuration, which contains grid, block, shared memory and
/// stream.
typedef struct nvshmemx_collective_launch_attr {
  cudaLaunchConfig_t cuda_config;
} nvshmemx_collective_launch_attr_t;

/// The largest grid of blocks of this shape that nvshmemx_collective_launch() accepts. @return An nvshmemx_status.
inline int nvshmemx_collective_launch_query_gridsize(const void* func, dim3 blockDims, void** args, size_t sharedMem,
                                                     int* gridsize) {
  static_cast<void>(args);
  if (const int joined = pgas_nvshmem_join(); joined != NVSHMEMX_SUCCESS) return joined;
  if (func == nullptr || gridsize == nullptr) return NVSHMEMX_ERROR_INVALID_VALUE;
  unsigned fit = 0;
  const cudaError_t status = pgas::compat::resident_blocks(func, blockDims, sharedMem, &fit);
  *gridsize = static_cast<int>(fit);
  if (status == cudaSuccess) return NVSHMEMX_SUCCESS;
  return pgas_nvshmem_launch_failed(__func__, 1, pgas::compat::threads_in(blockDims), 0, cudaGetErrorString(status));
}

/// Collective: launches a kernel on every PE, by a cooperative launch. A grid of 0 blocks means the largest possible
/// grid. @return An nvshmemx_status; NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED if the GPU can't hold all blocks at the
/// same time, together with the blocks of the other PEs on this GPU and the proxy's kernel. The log then names the
/// largest possible number of blocks. cudaGetLastError() also returns the error of the CUDA runtime.
inline int nvshmemx_collective_launch(const void* func, dim3 gridDims, dim3 blockDims, void** args, size_t sharedMem,
                                      cudaStream_t stream) {
  return pgas::compat::collective_launch(func, gridDims, blockDims, sharedMem, [=](dim3 grid) {
    return cudaLaunchCooperativeKernel(func, grid, blockDims, args, sharedMem, stream);
  });
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // NVSHMEM gives the struct and the function the same name
/// Like nvshmemx_collective_launch(), with launch attributes of the program. The launch is cooperative unless an
/// attribute specifies otherwise. *Errors* also NVSHMEMX_ERROR_INVALID_VALUE for null, and if there are more attributes
/// than the CUDA runtime defines.
inline int nvshmemx_collective_launch_attr(const nvshmemx_collective_launch_attr_t* attr, const void* func,
                                           void** args) {
  constexpr unsigned most = 64;
  if (attr == nullptr || attr->cuda_config.numAttrs >= most) return NVSHMEMX_ERROR_INVALID_VALUE;
  cudaLaunchConfig_t config = attr->cuda_config;
  cudaLaunchAttribute merged[most];
  bool said = false;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    merged[i] = config.attrs[i];
    said = said || merged[i].id == cudaLaunchAttributeCooperative;
  }
  if (!said) {
    merged[config.numAttrs].id = cudaLaunchAttributeCooperative;
    merged[config.numAttrs++].val.cooperative = 1;
  }
  config.attrs = merged;
  return pgas::compat::collective_launch(func, config.gridDim, config.blockDim, config.dynamicSmemBytes,
                                         [&](dim3 grid) {
                                           config.gridDim = grid;
                                           return cudaLaunchKernelExC(&config, func, args);
                                         });
}
#pragma GCC diagnostic pop
