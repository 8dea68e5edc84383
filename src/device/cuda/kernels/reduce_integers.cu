#include "device/cuda/kernels/reduce.cuh"

namespace pgas::detail::cuda {

template cudaError_t launch_reduce<integers>(const context&, const team_view&, const collective_request&, grid_state*,
                                             cudaStream_t);

}  // namespace pgas::detail::cuda
