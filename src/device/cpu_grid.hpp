/// @file
/// Kernels on the CPU. Every thread of every block is a real thread, so blocks can wait for one another.
#pragma once

#include <functional>

#include "device/device.hpp"
#include "pgas/device/group.hpp"

namespace pgas::detail {

/// The function that one thread of a grid runs.
using grid_member = std::function<void(const cpu_block&)>;

/// The largest number of threads of one grid that run at the same time on the CPU.
inline constexpr unsigned most_threads_at_once = 4096;

/// The number of blocks, and their concurrency. If `resident` is true, all blocks run at the same time, so that they
/// can wait for one another. Otherwise only a few blocks run at a time.
struct grid_shape {
  unsigned blocks;
  unsigned threads;  ///< threads of each block, at most 1024
  bool resident = true;
};

/// Enqueues a grid on the stream and returns immediately. The grid calls `member` once for each thread of each block.
/// *Callers* any thread. *Errors* launch_failed for an impossible shape, for more threads than can run at the same
/// time, or for a device that is not the CPU's device. device::synchronize() throws device_failed if a thread has ended
/// early, and launch_failed if the threads could not be started.
void run_grid_on_cpu(device& on, stream_handle stream, grid_shape shape, grid_member member);

/// Runs a grid on the calling thread. Returns when all threads have ended. *Errors* this function itself throws the
/// errors of run_grid_on_cpu() and of device::synchronize().
void run_grid_here(grid_shape shape, const grid_member& member);

}  // namespace pgas::detail
