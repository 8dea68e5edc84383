/// @file
/// Kernels on the CPU: every thread of every block is a real thread, so that blocks may wait for one another.
#pragma once

#include <functional>

#include "device/device.hpp"
#include "pgas/device/group.hpp"

namespace pgas::detail {

/// What one thread of a grid runs.
using grid_member = std::function<void(const thread_crew&)>;

/// Runs `member` once for each of `threads` threads of each of `blocks` blocks, all at the same time, when the stream
/// gets there. Returns at once. *Callers* any thread. *Errors* launch_failed for an impossible shape, or a device that
/// is not the CPU's. device::synchronize() throws device_failed when a member has ended early, launch_failed when so
/// many threads could not be started.
void run_grid_on_cpu(device& on, stream_handle stream, unsigned blocks, unsigned threads, grid_member member);

/// The same on the calling thread: returns when all members have ended. *Errors* as above, thrown from here.
void run_grid_here(unsigned blocks, unsigned threads, const grid_member& member);

}  // namespace pgas::detail
