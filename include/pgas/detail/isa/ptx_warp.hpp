/// @file
/// The number of lanes of a warp, sets of lanes, and the index of a lane. Code that depends on the width of a warp uses
/// these names, not numbers.
///
/// On the CPU each thread is a warp of its own (`device/group.hpp`). warp_size has the same value there, because the
/// library also uses it to divide the work of a group among the threads of the group.
#pragma once

#include "pgas/detail/compiler.hpp"

namespace pgas::detail {

/// log2 of warp_size, for shifts.
inline constexpr int log2_warp_size = 5;
/// The number of lanes of a warp. The constant is an int, like a literal, so that expressions can combine it with
/// signed and with unsigned ranks.
inline constexpr int warp_size = 1 << log2_warp_size;

/// A set of lanes: bit i is lane i.
using lane_mask = std::uint32_t;
static_assert(sizeof(lane_mask) * 8 == warp_size);
/// The mask for votes and shuffles of a warp, also of a warp with fewer than 32 threads: lanes that do not exist count
/// as ended, so no lane waits for them. If the mask were not a constant, each call would compare the mask with the mask
/// of all lanes.
inline constexpr lane_mask every_lane = ~lane_mask{0};

#if defined(__CUDACC__)
/// The calling thread's index in its warp.
[[nodiscard]] PGAS_FN std::uint32_t lane_id() {
  std::uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

/// The number of lanes in a set.
[[nodiscard]] PGAS_FN int lanes_in(lane_mask lanes) { return __popc(lanes); }
#endif

}  // namespace pgas::detail
