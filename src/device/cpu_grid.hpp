/// @file
/// Kernels on the CPU: every thread of every block is a real thread, so that blocks may wait for one another.
#pragma once

#include <functional>

#include "device/device.hpp"
#include "pgas/device/group.hpp"

namespace pgas::detail {

/// The function that one thread of a grid runs.
using grid_member = std::function<void(const cpu_block&)>;

/// Most threads of one grid that run at once on the CPU.
inline constexpr unsigned most_threads_at_once = 4096;

/// How many, and whether all at once (so that blocks may wait for one another) or as many blocks at a time as fit.
struct grid_shape {
  unsigned blocks;
  unsigned threads;  ///< of each block, at most 1024
  bool resident = true;
};

/// Runs `member` once for each thread of each block when the stream gets there. Returns at once. *Callers* any thread.
/// *Errors* launch_failed for an impossible shape, more threads than run at once, or a device that is not the CPU's.
/// device::synchronize() throws device_failed when a member has ended early, launch_failed when the threads could
/// not be started.
void run_grid_on_cpu(device& on, stream_handle stream, grid_shape shape, grid_member member);

/// The same on the calling thread: returns when all members have ended. *Errors* as above, thrown from here.
void run_grid_here(grid_shape shape, const grid_member& member);

}  // namespace pgas::detail
