/// @file
/// Launches portable kernels. A kernel is a function object whose call operator is device code. A kernel that nvcc has
/// compiled runs on the GPU. A kernel that g++ has compiled runs on the CPU, where a block is a set of host threads.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <cstddef>
#include <string>

#include "pgas/detail/launch/launch_kernel.hpp"
#include "pgas/device/group.hpp"
#include "pgas/stream.hpp"
#include "pgas/world.hpp"

namespace pgas {

/// @brief The shape of a launch. launch() reads it in the program; the library receives a detail::launch_shape.
struct launch_config {
  unsigned blocks = 1;           ///< blocks in the grid
  unsigned threads = 1;          ///< threads in a block; on the host heap at most PGAS_HOST_BLOCK_THREADS of them run
  std::size_t shared_bytes = 0;  ///< dynamic shared memory per block, GPU only
  const stream* on = nullptr;    ///< null: world::stream()
  /// @brief Whether all blocks must be resident at the same time.
  ///
  /// Kernels that wait for other blocks or PEs, or use this_grid(), need this setting. The launch fails if the blocks
  /// do not fit on the device. If false, the launch may have any number of blocks, which run in any order.
  bool resident = true;
  /// @brief Whether the GPU schedules the blocks of this launch before the blocks of other launches (under MPS, also
  /// before the blocks of other PEs).
  ///
  /// Use this setting for a short kernel on which other work depends while long kernels fill the GPU. The setting has
  /// no effect on the host heap.
  bool urgent = false;
  /// @brief Whether the kernel may start before the preceding launch of the stream ends. With this setting, the kernel
  /// starts when the preceding launch calls trigger_next_launch() (`device/launch_order.hpp`).
  ///
  /// Until the kernel has called await_earlier_launches(), it must not access memory that the preceding kernel
  /// accesses. At least one block must call await_earlier_launches(), because later work of the stream waits for this
  /// launch only. The kernel must not use this_grid(). Use this setting for long work beside a short kernel that waits
  /// for peers.
  bool overlaps = false;
};

/// @brief Enqueues `kernel(block, arguments...)` for every block and returns. world::synchronize() waits for the
/// kernel.
///
/// The block is a launched_block; this_grid(block) is the group of all threads of all blocks.
///
///     struct fill {
///       template <pgas::block_group Block>
///       PGAS_FN void operator()(Block block, pgas::context ctx, float* row, int n) const;
///     };
///     pgas::launch(world, {.blocks = 4, .threads = 256}, fill{}, world.context(), row.data(), n);
///
/// A kernel type may have the constants `max_threads` (per block) and `min_blocks` (resident on a multiprocessor). On
/// the GPU these constants become the kernel's `__launch_bounds__`, which limit its registers so that enough threads
/// run to hide memory latency. On the host heap, too, a block has at most `max_threads` threads.
///
/// The number of blocks is limited. The limit depends on the kernel's registers and shared memory, on the GPU's
/// multiprocessors, and on the number of PEs that run on the GPU at the same time. The number of PEs on the GPU
/// includes the PEs of this process and, under MPS, the PEs of all processes. If n PEs run on the GPU at the same time,
/// each PE gets a grid on 1/n of the multiprocessors that it may use. CUDA_MPS_ACTIVE_THREAD_PERCENTAGE only reduces
/// the number of multiprocessors: it does not give the processes different multiprocessors. Without MPS, processes
/// share the GPU by time slices. Kernels of different processes may wait for one another, but each wait takes a time
/// slice. In a world with proxied PEs the limit is one or a few blocks lower: the proxy executes the commands of
/// proxied PEs by a kernel of one warp, and blocks sometimes wait for that kernel. The limit does not account for other
/// work of the program on the GPU, such as work on other streams. Leave resources for the other work of the program.
///
/// Joining a world loads the kernels that the program passes to launch(), and the library's kernels, and reserves
/// memory for their stacks. The program must load all other kernels, also kernels of libraries that are loaded later,
/// before any kernel waits for these kernels. With proxied PEs, the program must load all kernels before any kernel
/// waits at all, because loading sometimes waits for the GPU; CUDA_MODULE_LOADING=EAGER loads all kernels when the
/// program starts. A kernel with a larger stack than all earlier kernels also makes the driver wait: call
/// cudaDeviceSetLimit(cudaLimitStackSize, ...) first.
///
/// With drivers of CUDA 12.3 and later, the GPU prepares a kernel that was compiled for sm_90 or later while the
/// preceding kernel of the stream ends. The kernel begins when the preceding kernel has ended and its stores are
/// visible. Blocks of the kernel start earlier only if the preceding kernel is a kernel of the program and calls
/// trigger_next_launch().
///
/// *Callers* any thread. *Memory* kernel and arguments are copied.
/// *Order* the kernel runs after earlier work of the same stream. During a stream capture the launch becomes part of
/// the CUDA graph. Several instances of the graph may run at the same time.
///
/// @throws error launch_failed: an impossible shape, a block of more than `max_threads` threads, blocks that do not fit
/// (with the number that fits), a kernel compiled for the CPU with a GPU heap, or a kernel compiled for the GPU with a
/// host heap. version_mismatch if pgas::context has different layouts in the headers of the program, in the library, or
/// in an argument. synchronize() throws failures inside the kernel.
template <class Kernel, class... Arguments>
void launch(world& w, const launch_config& shape, Kernel kernel, Arguments... arguments) {
  detail::check_kernels(w, detail::context_layout);
  (detail::check_argument(arguments), ...);
  const stream& on = shape.on != nullptr ? *shape.on : w.stream();
  if (shape.blocks == 0 || shape.threads == 0)
    throw error(code::launch_failed, "launch: a grid needs at least one block of one thread");
  if (shape.threads > detail::largest_block<Kernel>())
    throw error(code::launch_failed,
                "launch: a block of " + std::to_string(shape.threads) + " threads, but the kernel's max_threads is " +
                    std::to_string(detail::largest_block<Kernel>()) + ": launch smaller blocks, or raise max_threads");
  detail::launch_kernel(w,
                        {shape.blocks, shape.threads, shape.shared_bytes, shape.resident, shape.urgent, shape.overlaps},
                        on, kernel, arguments...);
}

/// @brief The largest number of blocks of `threads` threads for a resident launch(world, ..., kernel, arguments...); 0
/// if no block fits.
///
/// Also loads the kernel. Only the types of the arguments matter.
///
/// *Callers* any thread. *Units* `shared_bytes` is dynamic shared memory per block.
///
/// @throws error launch_failed: an impossible shape, a kernel compiled for the CPU with a GPU heap, or a kernel
/// compiled for the GPU with a host heap.
template <class Kernel, class... Arguments>
[[nodiscard]] unsigned max_resident_blocks(world& w, unsigned threads, std::size_t shared_bytes, const Kernel&,
                                           const Arguments&...) {
  detail::check_kernels(w, detail::context_layout);
  if (threads == 0) throw error(code::launch_failed, "max_resident_blocks: a block needs at least one thread");
  if (threads > detail::largest_block<Kernel>()) return 0;
  return detail::resident_blocks<Kernel, Arguments...>(w, {1, threads, shared_bytes, true});
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
