// A kernel that is launched for the size of its stack alone.
#include "device/cuda/kernels/kernels.hpp"
#include "device/cuda/kernels/library_kernel.cuh"

namespace pgas::detail::cuda {

namespace {

struct stack_kernel {
  static constexpr unsigned max_threads = 32;
  __device__ void operator()(unsigned at) const {
    volatile unsigned char stack[used_stack_bytes];  // addressed at will, so that it is memory
    stack[at % used_stack_bytes] = 1;
    static_cast<void>(stack[(at + 1) % used_stack_bytes]);
  }
};

}  // namespace

cudaError_t launch_stack_user(cudaStream_t stream) { return library_kernel<stack_kernel>::launch(1, 1, stream, 0u); }

}  // namespace pgas::detail::cuda
