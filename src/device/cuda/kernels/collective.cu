#include "device/collective_bodies.hpp"
#include "device/cuda/kernels/collective.hpp"

namespace pgas::detail::cuda {

namespace {

__global__ void __launch_bounds__(collective_threads)
    move_kernel(context here, team_view team, collective_request request) {
  move_as_asked(here, this_block(), team, request);
}

/// Meetings need no more than a warp.
unsigned threads_for(const collective_request& request) {
  return request.what == collective_kind::barrier || request.what == collective_kind::sync ? 32 : collective_threads;
}

}  // namespace

cudaError_t launch_collective(const context& context, const team_view& team, const collective_request& request,
                              cudaStream_t stream) {
  if (moves(request)) {
    move_kernel<<<1, threads_for(request), 0, stream>>>(context, team, request);
    return cudaGetLastError();
  }
  cudaError_t result = cudaErrorInvalidValue;
  with_operation(request.op, [&]<class Op>(Op) {
    result = launch_fold<Op>(context, team, request, stream);
    return true;
  });
  return result;
}

cudaError_t preload_collectives() {
  cudaFuncAttributes ignored{};
  cudaError_t result = cudaFuncGetAttributes(&ignored, reinterpret_cast<const void*>(&move_kernel));
  for (int which = static_cast<int>(reduction::sum);
       which <= static_cast<int>(reduction::minloc) && result == cudaSuccess; ++which)
    with_operation(static_cast<reduction>(which), [&]<class Op>(Op) {
      result = preload_folds<Op>();
      return true;
    });
  return result;
}

}  // namespace pgas::detail::cuda
