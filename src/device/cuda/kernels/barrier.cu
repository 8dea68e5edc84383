#include "device/cuda/kernels/kernels.hpp"
#include "pgas/device/sync.hpp"

namespace pgas::detail::cuda {

namespace {

__global__ void barrier_kernel(context here, team_view team) {
  static_cast<void>(detail::try_barrier(here, this_warp(block()), team));
}

}  // namespace

cudaError_t launch_barrier(const context& context, team_view team, cudaStream_t stream) {
  barrier_kernel<<<1, 32, 0, stream>>>(context, team);
  return cudaGetLastError();
}

cudaError_t preload_barrier() {
  cudaFuncAttributes ignored{};
  return cudaFuncGetAttributes(&ignored, reinterpret_cast<const void*>(&barrier_kernel));
}

}  // namespace pgas::detail::cuda
