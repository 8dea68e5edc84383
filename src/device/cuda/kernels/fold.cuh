/// @file
/// The kernels of one operation, one for each type; for the files that instantiate them. Several, as each takes the
/// compiler a while.
#pragma once

#include "device/collective_bodies.hpp"
#include "device/cuda/kernels/collective.hpp"

namespace pgas::detail::cuda {

template <class Op, class T>
__global__ void __launch_bounds__(collective_threads)
    fold_kernel(context here, team_view team, collective_request request) {
  fold_as_asked<Op, T>(here, this_block(), team, request);
}

template <class Op>
cudaError_t launch_fold(const context& context, const team_view& team, const collective_request& request,
                        cudaStream_t stream) {
  const bool launched = any_type<Op>([&]<class T>(type_is<T>) {
    if (asked_as<Op, T>() != request.type) return false;
    fold_kernel<Op, T><<<1, collective_threads, 0, stream>>>(context, team, request);
    return true;
  });
  return launched ? cudaGetLastError() : cudaErrorInvalidValue;
}

template <class Op>
cudaError_t preload_folds() {
  cudaError_t result = cudaSuccess;
  any_type<Op>([&]<class T>(type_is<T>) {
    cudaFuncAttributes ignored{};
    result = cudaFuncGetAttributes(&ignored, reinterpret_cast<const void*>(&fold_kernel<Op, T>));
    return result != cudaSuccess;
  });
  return result;
}

}  // namespace pgas::detail::cuda
