/// @file
/// The library's kernels for collectives that the host asks for. Its blocks carry out a request as one group, a
/// pgas::grid: few enough to be on the GPU at once beside other kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>

#include "pgas/device/context.hpp"
#include "pgas/device/impl/reduce/collective_request.hpp"
#include "pgas/device/impl/reduce/oneshot_reduce.hpp"
#include "pgas/device/impl/sync/grid_barrier.hpp"

namespace pgas::detail::cuda {

/// Enqueues a request. A failure ends the kernel early and is left in the context's failure record.
/// *Errors* cudaErrorInvalidValue for an operation that does not take the type.
[[nodiscard]] cudaError_t launch_collective(const context& context, const team_view& team,
                                            const collective_request& request, grid_state* blocks, cudaStream_t stream);

/// The same for reductions of elements of one family.
template <class Family>
[[nodiscard]] cudaError_t launch_reduce(const context& context, const team_view& team,
                                        const collective_request& request, grid_state* blocks, cudaStream_t stream);

/// Most threads of a collective's block. More would leave each too few registers.
inline constexpr unsigned most_threads = 512;

/// Blocks that carry out a request: the same on all members, but for collect(). One moves some 40 GB/s.
[[nodiscard]] inline unsigned blocks_for(const collective_request& request, const team_view& team) {
  const bool by_member = request.what <= collective_kind::alltoalls || request.what == collective_kind::reduce_scatter;
  const bool pushed =
      request.what == collective_kind::reduce && has_oneshot_staging(team);  // unless they are too many for it
  const std::size_t times = pushed ? 1 : by_member ? static_cast<std::size_t>(team.n_pes()) : 2;  // else in and out
  const std::size_t each = pushed ? std::size_t{1} << log2_oneshot_bytes(team.n_pes()) : std::size_t{32} << 10;
  const std::size_t bytes = request.count * request.element_bytes * times;
  return static_cast<unsigned>(std::clamp((bytes + each - 1) / each, std::size_t{1}, std::size_t{request.most_blocks}));
}

/// Threads of the block that carries out a request. Members that only meet are waited for soonest by one warp.
[[nodiscard]] constexpr unsigned threads_for(const collective_request& request) {
  const bool meets = request.what == collective_kind::barrier || request.what == collective_kind::sync;
  return meets ? 32 : most_threads;
}

}  // namespace pgas::detail::cuda
