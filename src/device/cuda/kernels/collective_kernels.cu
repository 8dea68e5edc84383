#include "device/cuda/kernels/collective_grid.cuh"

namespace pgas::detail::cuda {

namespace {

struct move_kernel {
  static constexpr unsigned max_threads = max_collective_threads;
  __device__ void operator()(const context& here, const team_view& team, const collective_request& request,
                             grid_state* blocks) const {
    execute_move(here, collective_grid(launched_block(blocks)), team, request);
  }
};

}  // namespace

cudaError_t launch_collective(const context& context, const team_view& team, const collective_request& request,
                              grid_state* blocks, cudaStream_t stream) {
  if (moves(request))
    return kernel_launcher<move_kernel>::launch(blocks_for(request, team), threads_for(request), stream, context, team,
                                                request, blocks);
  cudaError_t result = cudaErrorInvalidValue;
  dispatch_type_group(request, [&]<class Types>(Types) {
    result = launch_reduce<Types>(context, team, request, blocks, stream);
    return true;
  });
  return result;
}

}  // namespace pgas::detail::cuda
