// Starts the kernels.
#include <cstdio>
#include <cstdlib>

#include "call.hpp"

namespace conformance {

void launch(const void* kernel, const call& c, int threads) {
  call copy = c;
  void* arguments[] = {&copy};
  const int status =
      nvshmemx_collective_launch(kernel, dim3(1), dim3(static_cast<unsigned>(threads)), arguments, 0, c.stream);
  const cudaError_t done = cudaStreamSynchronize(c.stream);
  if (status != 0 || done != cudaSuccess) {
    std::printf("a kernel failed: %d, %s\n", status, cudaGetErrorString(done));
    std::fflush(stdout);
    std::abort();
  }
}

}  // namespace conformance
