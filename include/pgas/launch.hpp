/// @file
/// Running a portable kernel: a function object whose call operator is device code. Compiled by nvcc it runs on the GPU,
/// compiled by g++ on the CPU, where a block is a crew of real threads.
#pragma once

#include <cstddef>

#include "pgas/detail/launch_kernel.hpp"
#include "pgas/device/group.hpp"
#include "pgas/stream.hpp"
#include "pgas/world.hpp"

namespace pgas {

/// The shape of a launch.
struct launch_config {
  unsigned blocks = 1;           ///< of the grid
  unsigned threads = 1;          ///< per block; on the host heap at most PGAS_HOST_BLOCK_THREADS of them
  std::size_t shared_bytes = 0;  ///< dynamic shared memory per block, GPU only
  const stream* on = nullptr;    ///< null: world::stream()
  /// All blocks at once, as kernels need that wait for other blocks or PEs, or use this_grid(). The launch fails where they
  /// do not fit. False: any number of blocks, in any order, for kernels that wait for nobody.
  bool resident = true;
};

/// Starts `kernel(block, arguments...)` on every block and returns; world::synchronize() waits for it. The block is a
/// launched_block: this_grid(block) is the group of all threads of all blocks.
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
/// Whether all blocks fit is told from the kernel's registers and shared memory, the GPU's multiprocessors, and how many PEs
/// run on it at the same time: those of this process, under MPS those of all processes. So each of n such PEs gets a grid of
/// 1/n of the multiprocessors that it may use; CUDA_MPS_ACTIVE_THREAD_PERCENTAGE only makes these fewer, as it gives all
/// processes the same ones. Processes without MPS take turns on the whole GPU, so their kernels may wait for one another, a
/// turn's length each time. In a world with PEs beyond load and store one block fewer, or a few, is admitted: the proxy
/// carries out what those ask for by a kernel of one warp, for which the blocks may be waiting. It is not known what else
/// the program runs there, on other streams for example: leave room for it.
///
/// The kernel was loaded when the world was joined, as were the library's own, and memory for their stacks set aside. What a
/// program launches by other means, or loads with a library later, it has to load before a kernel waits for it or, with PEs
/// beyond load and store, for anything at all, as loading may wait for the GPU: CUDA_MODULE_LOADING=EAGER does it. A kernel
/// with a larger stack than any before makes the driver wait as well: cudaDeviceSetLimit(cudaLimitStackSize, ...) in time.
///
/// *Callers* any thread. *Memory* kernel and arguments are copied. *Order* after earlier work of the same stream. On a
/// stream that is being captured, the launch becomes part of the CUDA graph, instances of which may run at once.
/// *Errors* launch_failed: an impossible shape, blocks that do not fit (naming how many would), or a kernel compiled for the
/// other side than the heap is on. What goes wrong inside the kernel is thrown by synchronize().
template <class Kernel, class... Arguments>
void launch(world& w, const launch_config& shape, Kernel kernel, Arguments... arguments) {
  w.check();
  const stream& on = shape.on != nullptr ? *shape.on : w.stream();
  if (shape.blocks == 0 || shape.threads == 0)
    throw error(code::launch_failed, "launch: a grid needs at least one block of one thread");
  detail::launch_kernel(w, {shape.blocks, shape.threads, shape.shared_bytes, shape.resident}, on, kernel, arguments...);
}

/// The most blocks of `threads` threads that a resident launch(world, ..., kernel, arguments...) may have; 0 if not even one
/// fits. Also loads the kernel. The arguments count by their types only.
///
/// *Callers* any thread. *Units* `shared_bytes` is dynamic shared memory per block.
/// *Errors* launch_failed: an impossible shape, or a kernel compiled for the other side than the heap is on.
template <class Kernel, class... Arguments>
[[nodiscard]] unsigned max_resident_blocks(world& w, unsigned threads, std::size_t shared_bytes, const Kernel&,
                                           const Arguments&...) {
  w.check();
  if (threads == 0) throw error(code::launch_failed, "max_resident_blocks: a block needs at least one thread");
  return detail::resident_blocks<Kernel, Arguments...>(w, {1, threads, shared_bytes, true});
}

}  // namespace pgas
