/// @file
/// The kernels of one operation, one for each type; for the files that instantiate them. Several, as each takes the
/// compiler a while.
#pragma once

#include "device/collective_bodies.hpp"
#include "device/cuda/kernels/collective.hpp"
#include "device/cuda/kernels/library_kernel.cuh"
#include "device/cuda/kernels/stepping_grid.cuh"

namespace pgas::detail::cuda {

template <class Op, class T>
__global__ void __launch_bounds__(most_threads)
    fold_kernel(context here, team_view team, collective_request request, grid_state* blocks) {
  fold_as_asked<Op, T>(here, stepping_grid(launched_block(blocks)), team, request);
}

template <class Op>
cudaError_t launch_fold(const context& context, const team_view& team, const collective_request& request,
                        grid_state* blocks, cudaStream_t stream) {
  cudaError_t result = cudaErrorInvalidValue;
  any_type<Op>([&]<class T>(type_is<T>) {
    if (asked_as<Op, T>() != request.type) return false;
    result = library_kernel<&fold_kernel<Op, T>>::launch(blocks_for(request, team), threads_for(request), stream,
                                                         context, team, request, blocks);
    return true;
  });
  return result;
}

}  // namespace pgas::detail::cuda
