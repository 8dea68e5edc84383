/// @file
/// Running a portable kernel: a function object whose call operator is device code. Compiled by nvcc it runs on the GPU,
/// compiled by g++ on the CPU, where a block is a crew of real threads.
#pragma once

#include <cstddef>
#include <functional>

#include "pgas/device/group.hpp"
#include "pgas/detail/launch_kernel.hpp"
#include "pgas/stream.hpp"
#include "pgas/world.hpp"

namespace pgas {

/// The shape of a launch.
struct launch_config {
  unsigned blocks = 1;
  unsigned threads = 1;          ///< per block; on the host heap at most PGAS_CREW of them
  std::size_t shared_bytes = 0;  ///< dynamic shared memory per block, GPU only
  const stream* on = nullptr;    ///< null: world::stream()
};

/// Starts `kernel(block, arguments...)` on every block and returns; world::synchronize() waits for it.
///
///     struct fill {
///       template <pgas::block_group Block>
///       PGAS_FN void operator()(Block block, pgas::context ctx, float* row, int n) const;
///     };
///     pgas::launch(world, {.blocks = 4, .threads = 256}, fill{}, world.context(), row.data(), n);
///
/// A kernel type may have the constants `max_threads` (per block) and `min_blocks` (resident on a multiprocessor): on the
/// GPU they become its `__launch_bounds__`, which keeps registers from limiting how many threads hide its memory latency.
///
/// *Callers* any thread. *Memory* kernel and arguments are copied. *Order* after earlier work of the same stream.
/// Kernels that wait for other blocks or PEs need all their blocks resident at once: keep `blocks` within what the device
/// can hold.
/// *Errors* launch_failed: an impossible shape, or a kernel compiled for the other side than the heap is on. What goes
/// wrong inside the kernel is thrown by synchronize().
template <class Kernel, class... Arguments>
void launch(world& w, const launch_config& shape, Kernel kernel, Arguments... arguments) {
  w.check();
  const stream& on = shape.on != nullptr ? *shape.on : w.stream();
  if (shape.blocks == 0 || shape.threads == 0)
    throw error(code::launch_failed, "launch: a grid needs at least one block of one thread");
  detail::launch_kernel(w, shape.blocks, shape.threads, shape.shared_bytes, on, kernel, arguments...);
}

}  // namespace pgas
