/// @file
/// The library's kernels for collectives that the host asks for. One block carries out a request, so that its threads
/// can meet the other PEs' as one group.
#pragma once

#include <cuda_runtime_api.h>

#include "pgas/device/context.hpp"
#include "pgas/device/impl/collective_request.hpp"

namespace pgas::detail::cuda {

/// Enqueues a request. A failure ends the kernel early and is left in the context's failure record.
/// *Errors* cudaErrorInvalidValue for an operation that does not take the type.
[[nodiscard]] cudaError_t launch_collective(const context& context, const team_view& team,
                                            const collective_request& request, cudaStream_t stream);

/// The same for the reductions by one operation.
template <class Op>
[[nodiscard]] cudaError_t launch_fold(const context& context, const team_view& team, const collective_request& request,
                                      cudaStream_t stream);

/// Most threads of a collective's block. More would leave each too few registers.
inline constexpr unsigned most_threads = 512;

/// Threads of the block that carries out a request. Members that only meet are waited for soonest by one warp.
[[nodiscard]] constexpr unsigned threads_for(const collective_request& request) {
  const bool meets = request.what == collective_kind::barrier || request.what == collective_kind::sync;
  return meets ? 32 : most_threads;
}

}  // namespace pgas::detail::cuda
