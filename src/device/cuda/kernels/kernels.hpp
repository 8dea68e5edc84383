/// @file
/// The library's own kernels, as functions that enqueue them. The bodies are ordinary device operations.
#pragma once

#include <cuda_runtime_api.h>

#include "device/shared/operation.hpp"

namespace pgas::detail::cuda {

/// One operation; kernels must reach all memory that it names.
[[nodiscard]] cudaError_t launch_operation(const operation_request& request, cudaStream_t stream);

/// A thread with a stack as large as CUDA's default limit.
inline constexpr unsigned used_stack_bytes = 1024;
[[nodiscard]] cudaError_t launch_stack_user(cudaStream_t stream);

/// A list of atomic operations, by one warp: other kernels leave room for that soonest.
[[nodiscard]] cudaError_t launch_updates(batched_atomic* list, unsigned count, cudaStream_t stream);
/// What that needs of a multiprocessor of the current GPU.
[[nodiscard]] cudaError_t describe_updates(cudaFuncAttributes& about);

}  // namespace pgas::detail::cuda
