/// @file
/// The kernel of a family of types; for the files that instantiate it. Several, as each takes the compiler a while.
#pragma once

#include "device/cuda/kernels/collective.hpp"
#include "device/cuda/kernels/library_kernel.cuh"
#include "device/cuda/kernels/lockstep_grid.cuh"
#include "device/shared/collective_kernels.hpp"

namespace pgas::detail::cuda {

template <class Family>
struct reduce_kernel {
  static constexpr unsigned max_threads = most_threads;
  __device__ void operator()(const context& here, const team_view& team, const collective_request& request,
                             grid_state* blocks) const {
    Family::choose(request.type, [&]<class T>(type_is<T>) {
      execute_reduction<T>(here, lockstep_grid(launched_block(blocks)), team, request);
    });
  }
};

template <class Family>
cudaError_t launch_reduce(const context& context, const team_view& team, const collective_request& request,
                          grid_state* blocks, cudaStream_t stream) {
  return library_kernel<reduce_kernel<Family>>::launch(blocks_for(request, team), threads_for(request), stream, context,
                                                       team, request, blocks);
}

}  // namespace pgas::detail::cuda
