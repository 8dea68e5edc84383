/// @file
/// The group that executes a collective of the host: a grid with as many blocks on every member, in lockstep block by
/// block. And the launch of the reduction's kernel for a group of types.
#pragma once

#include "device/both_backends/execute_collective.hpp"
#include "device/cuda/kernels/kernel_launcher.cuh"
#include "pgas/device/grid.hpp"

namespace pgas::detail::cuda {

/// All threads of a kernel with as many blocks on every member of the team: before a collective's first access to other
/// members' memory, and after its last, each block has a barrier with the same block of the others only
/// (lockstep_barrier()).
class collective_grid : public grid {
 public:
  explicit __device__ collective_grid(const launched_block& part) : grid(part), part_(part) {}
  /// The block that the calling thread is of.
  [[nodiscard]] __device__ const launched_block& part() const { return part_; }

 private:
  launched_block part_;
};

/// Enqueues a reduction of a group of types (type_group).
template <class Types>
[[nodiscard]] cudaError_t launch_reduce(const context& context, const team_view& team,
                                        const collective_request& request, grid_state* blocks, cudaStream_t stream);

}  // namespace pgas::detail::cuda
