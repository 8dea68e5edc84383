/// @file
/// Launching the library's own kernels: each is listed by the act of launching it somewhere in the code, so that none
/// can be left out when all are loaded. And each may be set up on the GPU while the one before it on the stream still
/// runs, which hides a part of its launch (programmatic dependent launch, CUDA Programming Guide).
#pragma once

#include "device/cuda/kernels/kernels.hpp"
#include "pgas/detail/isa/ptx_gpu_scope.hpp"

namespace pgas::detail::cuda {

/// As many registers as a multiprocessor has for one and a half such blocks: the rest is for kernels that run beside
/// this one. By default the compiler aims at two, and its spills have to come from L2 again after each wait, which
/// empties L1.
template <class Body, class... Arguments>
__global__ void __launch_bounds__(Body::max_threads * 3 / 2, 1) library_entry(Arguments... arguments) {
  wait_for_predecessor();
  Body()(arguments...);
}

/// The only way to launch a kernel in this library. `Body` is a function object with the largest size of its blocks.
template <class Body>
class kernel_launcher {
 public:
  template <class... Arguments>
  [[nodiscard]] static cudaError_t launch(unsigned blocks, unsigned threads, cudaStream_t stream,
                                          const Arguments&... arguments) {
    static_cast<void>(listed<Arguments...>);
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t shape{};
    shape.gridDim = blocks;
    shape.blockDim = threads;
    shape.stream = stream;
    shape.attrs = &early;
    shape.numAttrs = supports_pdl() ? 1 : 0;
    const cudaError_t result = cudaLaunchKernelEx(&shape, library_entry<Body, Arguments...>, arguments...);
    // What is reported here must not surface again in the application.
    if (result != cudaSuccess) static_cast<void>(cudaGetLastError());
    return result;
  }

  template <class... Arguments>
  [[nodiscard]] static cudaError_t describe(cudaFuncAttributes& about) {
    return cudaFuncGetAttributes(&about, library_entry<Body, Arguments...>);
  }

 private:
  template <class... Arguments>
  [[nodiscard]] static bool list() {
    library_kernels().push_back(reinterpret_cast<const void*>(&library_entry<Body, Arguments...>));
    return true;
  }
  template <class... Arguments>
  static inline const bool listed = list<Arguments...>();
};

}  // namespace pgas::detail::cuda
