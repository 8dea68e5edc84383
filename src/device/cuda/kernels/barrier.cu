#include "device/cuda/kernels/kernels.hpp"
#include "device/cuda/kernels/library_kernel.cuh"
#include "pgas/device/impl/barrier.hpp"

namespace pgas::detail::cuda {

namespace {

__global__ void barrier_kernel(context here, team_view team) {
  // Whether it succeeded is in the failure record, where the host looks after the stream has been synchronised.
  static_cast<void>(try_barrier<arrival::release>(here, this_warp(this_block()), team));
}

}  // namespace

cudaError_t launch_barrier(const context& context, team_view team, cudaStream_t stream) {
  return library_kernel<&barrier_kernel>::launch(1, 32, stream, context, team);
}

}  // namespace pgas::detail::cuda
