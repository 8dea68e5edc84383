/// @file
/// Running a portable kernel: a function object whose call operator is device code. Compiled by nvcc it runs on the
/// GPU, compiled by g++ on the CPU, where a block is a set of host threads.
#pragma once

#include "pgas/detail/names_begin.inc"

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
  /// All blocks run at once, for kernels that wait for other blocks or PEs, or use this_grid(). The launch fails where
  /// they do not fit. False: any number of blocks, in any order, for kernels without such waits.
  bool resident = true;
  /// Its blocks take free places on the GPU before those of other launches, of other PEs too under MPS: for a short
  /// kernel that others wait for, while long ones fill the GPU. On the host heap it makes no difference.
  bool urgent = false;
  /// It begins when the stream's earlier launch lets it: trigger_next_launch() (`device/launch_order.hpp`). Its kernel
  /// reads nothing that that one writes, and writes nothing that it reads, before it has called
  /// await_earlier_launches(), and calls that in one block at least: what follows on the stream waits for this launch
  /// alone. It does not use this_grid(). For much work beside a short kernel that waits for peers.
  bool overlaps = false;
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
/// A kernel type may have the constants `max_threads` (per block) and `min_blocks` (resident on a multiprocessor): on
/// the GPU they become its `__launch_bounds__`, which keeps registers from limiting the number of threads that hide
/// memory latency.
///
/// The limit of blocks follows from the kernel's registers and shared memory, the GPU's multiprocessors, and the number
/// of PEs that run on it at the same time: PEs of this process, under MPS of all processes. Each of n such PEs gets a
/// grid of 1/n of the multiprocessors that it may use; CUDA_MPS_ACTIVE_THREAD_PERCENTAGE only reduces these, as it
/// gives all processes the same ones. Processes without MPS share the GPU by time slices, so their kernels may wait for
/// one another, a time slice each time. In a world with proxied PEs the limit is one block lower, or a few: the proxy
/// executes commands of those PEs by a kernel of one warp, and blocks may wait for it. Other work of the program on the
/// GPU, on other streams for example, is not counted: leave room for it.
///
/// The kernel is loaded while the world is joined, as are the library's own, and memory for their stacks is set aside.
/// The program has to load other kernels, of later libraries too, before any kernel waits for them. With proxied PEs it
/// has to load them before any kernel waits at all, as loading may wait for the GPU: CUDA_MODULE_LOADING=EAGER does it.
/// A kernel with a larger stack than any before makes the driver wait as well: call
/// cudaDeviceSetLimit(cudaLimitStackSize, ...) first.
///
/// A kernel that was compiled for sm_90 or later is set up while the stream's earlier kernel ends, and begins when that
/// one has ended and all that it wrote is there (drivers of CUDA 12.3 and later). Its blocks take their places before
/// that only if that kernel is the program's own and calls trigger_next_launch().
///
/// *Callers* any thread. *Memory* kernel and arguments are copied. *Order* after earlier work of the same stream. On a
/// stream that is being captured, the launch becomes part of the CUDA graph, instances of which may run at once.
/// *Errors* launch_failed: an impossible shape, blocks that do not fit (naming how many would), or a kernel compiled
/// for the CPU with a GPU heap, or the other way round. synchronize() throws failures inside the kernel.
template <class Kernel, class... Arguments>
void launch(world& w, const launch_config& shape, Kernel kernel, Arguments... arguments) {
  w.check();
  const stream& on = shape.on != nullptr ? *shape.on : w.stream();
  if (shape.blocks == 0 || shape.threads == 0)
    throw error(code::launch_failed, "launch: a grid needs at least one block of one thread");
  detail::launch_kernel(w,
                        {shape.blocks, shape.threads, shape.shared_bytes, shape.resident, shape.urgent, shape.overlaps},
                        on, kernel, arguments...);
}

/// The most blocks of `threads` threads that a resident launch(world, ..., kernel, arguments...) may have; 0 if not
/// even one fits. Also loads the kernel. The arguments count by their types only.
///
/// *Callers* any thread. *Units* `shared_bytes` is dynamic shared memory per block.
/// *Errors* launch_failed: an impossible shape, or a kernel compiled for the CPU with a GPU heap, or the other way
/// round.
template <class Kernel, class... Arguments>
[[nodiscard]] unsigned max_resident_blocks(world& w, unsigned threads, std::size_t shared_bytes, const Kernel&,
                                           const Arguments&...) {
  w.check();
  if (threads == 0) throw error(code::launch_failed, "max_resident_blocks: a block needs at least one thread");
  return detail::resident_blocks<Kernel, Arguments...>(w, {1, threads, shared_bytes, true});
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
