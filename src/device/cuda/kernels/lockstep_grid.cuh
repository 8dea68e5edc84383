/// @file
/// The group that carries out a collective of the host.
#pragma once

#include "pgas/device/grid.hpp"

namespace pgas::detail::cuda {

/// All threads of a kernel that has as many blocks on every member of the team: before a collective's first access to
/// other members' memory, and after its last, each block meets only the same block of the others (lockstep_barrier()).
class lockstep_grid : public grid {
 public:
  explicit __device__ lockstep_grid(const launched_block& part) : grid(part), part_(part) {}
  /// The block that the calling thread is of.
  [[nodiscard]] __device__ const launched_block& part() const { return part_; }

 private:
  launched_block part_;
};

}  // namespace pgas::detail::cuda
