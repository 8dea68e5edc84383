/// @file
/// The library's own kernels, as functions that enqueue them. The bodies are ordinary device operations.
#pragma once

#include <cuda_runtime_api.h>

#include "device/operation.hpp"

namespace pgas::detail::cuda {

/// One operation; kernels must reach all memory that it names.
[[nodiscard]] cudaError_t launch_operation(const operation_request& request, cudaStream_t stream);

/// A barrier over `team` by one warp. A failure ends it early and is left in the context's failure record.
[[nodiscard]] cudaError_t launch_barrier(const context& context, team_view team, cudaStream_t stream);

}  // namespace pgas::detail::cuda
