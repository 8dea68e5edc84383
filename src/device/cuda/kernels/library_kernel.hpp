/// @file
/// All kernels of the library, to be loaded at join: a kernel loaded later would wait for one that spins, which may be
/// waiting for it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

namespace pgas::detail::cuda {

/// Filled by library_kernel.cuh. Complete before main() begins, or when the library has been loaded.
[[nodiscard]] inline std::vector<const void*>& library_kernels() {
  static std::vector<const void*> all;
  return all;
}

/// Whether kernels may be set up before their turn: on all of this process's GPUs, and in graphs.
[[nodiscard]] inline bool supports_pdl() {
  static const bool all = [] {
    constexpr int with_graphs = 12030;  // the driver's CUDA version
    int version = 0;
    int gpus = 0;
    if (cudaDriverGetVersion(&version) != cudaSuccess || version < with_graphs) return false;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess) return false;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      int generation = 0;
      if (cudaDeviceGetAttribute(&generation, cudaDevAttrComputeCapabilityMajor, gpu) != cudaSuccess || generation < 9)
        return false;
    }
    return true;
  }();
  return all;
}

/// Loads them into the current context. @param stack_bytes what a thread of the hungriest needs for its stack
[[nodiscard]] inline cudaError_t load_library_kernels(std::size_t& stack_bytes) {
  cudaFuncAttributes about{};
  for (const void* kernel : library_kernels()) {
    if (const cudaError_t failed = cudaFuncGetAttributes(&about, kernel); failed != cudaSuccess) return failed;
    if (about.localSizeBytes > stack_bytes) stack_bytes = about.localSizeBytes;
  }
  return cudaSuccess;
}

}  // namespace pgas::detail::cuda
