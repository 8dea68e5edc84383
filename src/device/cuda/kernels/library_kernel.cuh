/// @file
/// Launching the library's own kernels: each is listed by the act of launching it somewhere in the code, so that none can be
/// left out when all are loaded.
#pragma once

#include "device/cuda/kernels/library_kernel.hpp"

namespace pgas::detail::cuda {

/// The only way to launch a `__global__` function in this library.
template <auto Kernel>
class library_kernel {
 public:
  template <class... Arguments>
  [[nodiscard]] static cudaError_t launch(unsigned blocks, unsigned threads, cudaStream_t stream, const Arguments&... arguments) {
    static_cast<void>(listed_);
    Kernel<<<blocks, threads, 0, stream>>>(arguments...);
    return cudaGetLastError();
  }

 private:
  [[nodiscard]] static bool list() {
    library_kernels().push_back(reinterpret_cast<const void*>(Kernel));
    return true;
  }
  static inline const bool listed_ = list();
};

}  // namespace pgas::detail::cuda
