/// @file
/// Launches the library's kernels. When the library is loaded, all its kernels are added to the list library_kernels(),
/// so that load_library_kernels() finds them before any launch. Each kernel may be set up on the GPU while the previous
/// kernel of the stream ends (`launch_attributes.hpp`).
#pragma once

#include "device/cuda/kernels/kernels.hpp"
#include "pgas/detail/launch/launch_attributes.hpp"

namespace pgas::detail::cuda {

/// The limit is the number of registers with which one and a half blocks fit on a multiprocessor. The other registers
/// are for kernels that run at the same time. By default the compiler limits the registers to those with which two
/// blocks fit. It then spills values, which come from L2 again after each wait, because a wait empties L1.
template <class Body, class... Arguments>
__global__ void __launch_bounds__(Body::max_threads * 3 / 2, 1) library_entry(Arguments... arguments) {
  wait_for_predecessor();
  Body()(arguments...);
}

/// Every kernel of this library is launched through this class. `Body` is a function object that states its largest
/// block size.
template <class Body>
class kernel_launcher {
 public:
  template <class... Arguments>
  [[nodiscard]] static cudaError_t launch(unsigned blocks, unsigned threads, cudaStream_t stream,
                                          const Arguments&... arguments) {
    static_cast<void>(listed<Arguments...>);
    cudaLaunchAttribute early = early_set_up();
    cudaLaunchConfig_t shape{};
    shape.gridDim = blocks;
    shape.blockDim = threads;
    shape.stream = stream;
    shape.attrs = &early;
    shape.numAttrs = is_early<Arguments...>() ? 1 : 0;
    const cudaError_t result = cudaLaunchKernelEx(&shape, library_entry<Body, Arguments...>, arguments...);
    // Clears the error, which is reported here and must not appear again in the application.
    if (result != cudaSuccess) static_cast<void>(cudaGetLastError());
    return result;
  }

  template <class... Arguments>
  [[nodiscard]] static cudaError_t describe(cudaFuncAttributes& about) {
    return cudaFuncGetAttributes(&about, library_entry<Body, Arguments...>);
  }

 private:
  /// The result of may_be_set_up_early(), which is called once for each GPU that a thread uses.
  template <class... Arguments>
  [[nodiscard]] static bool is_early() {
    static thread_local int asked = -1;
    static thread_local bool early = false;
    int gpu = -1;
    static_cast<void>(cudaGetDevice(&gpu));
    if (gpu == asked) return early;
    cudaFuncAttributes about{};
    const bool found = describe<Arguments...>(about) == cudaSuccess;
    if (!found) static_cast<void>(cudaGetLastError());  // the launch reports the error
    early = found && may_be_set_up_early(about);
    asked = gpu;
    return early;
  }

  template <class... Arguments>
  [[nodiscard]] static bool list() {
    library_kernels().push_back(reinterpret_cast<const void*>(&library_entry<Body, Arguments...>));
    return true;
  }
  template <class... Arguments>
  static inline const bool listed = list<Arguments...>();
};

}  // namespace pgas::detail::cuda
