#include "device/cuda/kernels/fold.cuh"

namespace pgas::detail::cuda {

template cudaError_t launch_fold<op::bit_and>(const context&, const team_view&, const collective_request&, grid_state*,
                                              cudaStream_t);
template cudaError_t launch_fold<op::bit_or>(const context&, const team_view&, const collective_request&, grid_state*,
                                             cudaStream_t);
template cudaError_t launch_fold<op::bit_xor>(const context&, const team_view&, const collective_request&, grid_state*,
                                              cudaStream_t);

}  // namespace pgas::detail::cuda
