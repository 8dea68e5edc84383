/// @file
/// The library's own kernels, as functions that enqueue them. The bodies are ordinary device operations.
#pragma once

#include <cuda_runtime_api.h>

#include "pgas/device/context.hpp"

namespace pgas::detail::cuda {

/// One atomic operation by one thread. `operation` and `type` are those of atomic_request; `result` is null or a word that
/// the kernel may write.
[[nodiscard]] cudaError_t launch_atomic(int operation, int type, void* target, std::uint64_t value, std::uint64_t condition,
                                        bool release, std::uint64_t* result, cudaStream_t stream);

/// A barrier over `team` by one warp. A failure ends it early and is left in the context's failure record.
[[nodiscard]] cudaError_t launch_barrier(const context& context, team_view team, cudaStream_t stream);

/// Loads the kernels of one file into the current context, so that none is loaded while another one spins: loading would
/// wait for the spinning kernel, which may be waiting for the one that is not loaded.
[[nodiscard]] cudaError_t preload_atomic();
[[nodiscard]] cudaError_t preload_barrier();

}  // namespace pgas::detail::cuda
