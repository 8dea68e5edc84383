/// @file
/// The two ways of starting a portable kernel, one for each compiler. The rest of launch() is in pgas/launch.hpp.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "pgas/device/group.hpp"
#include "pgas/error.hpp"
#include "pgas/stream.hpp"
#include "pgas/world.hpp"

namespace pgas::detail {

/// Makes the world's GPU current on this thread for as long as it lives. Does nothing on the host heap.
class PGAS_API device_guard {
 public:
  explicit device_guard(world& w);
  ~device_guard();
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;

 private:
  world& world_;
};

#if defined(__CUDACC__)

/// Kernels that state how large their blocks are at most and how many of them a multiprocessor is to hold.
template <class Kernel>
concept bounded_kernel = requires {
  Kernel::max_threads;
  Kernel::min_blocks;
};

/// Entry points of portable kernels.
template <class Kernel, class... Arguments>
__global__ void kernel_entry(Kernel kernel, Arguments... arguments) {
  kernel(this_block(), arguments...);
}
template <bounded_kernel Kernel, class... Arguments>
__global__ void __launch_bounds__(Kernel::max_threads, Kernel::min_blocks) bounded_kernel_entry(Kernel kernel, Arguments... arguments) {
  kernel(this_block(), arguments...);
}

template <class Kernel, class... Arguments>
void launch_kernel(world& w, unsigned blocks, unsigned threads, std::size_t shared_bytes, const stream& on, Kernel kernel,
                   Arguments... arguments) {
  if (w.heap() != heap_kind::cuda)
    throw error(code::launch_failed,
                "launch: this kernel was compiled by nvcc for a GPU, but the world's heap is on the host: use a machine with a "
                "GPU, or the same source compiled by a C++ compiler");
  const device_guard guard(w);
  const auto stream = static_cast<cudaStream_t>(on.native());
  if constexpr (bounded_kernel<Kernel>)
    bounded_kernel_entry<<<blocks, threads, shared_bytes, stream>>>(kernel, arguments...);
  else
    kernel_entry<<<blocks, threads, shared_bytes, stream>>>(kernel, arguments...);
  if (const cudaError_t failed = cudaGetLastError(); failed != cudaSuccess)
    throw error(code::launch_failed, std::string("launch of ") + std::to_string(blocks) + " blocks of " +
                                         std::to_string(threads) + " threads: " + cudaGetErrorString(failed));
}

#else

/// Runs `member` once for every thread of every block, each on a thread of its own, when the stream gets there.
PGAS_API void run_grid(world& w, const stream& on, unsigned blocks, unsigned threads,
                       std::function<void(const thread_crew&)> member);

template <class Kernel, class... Arguments>
void launch_kernel(world& w, unsigned blocks, unsigned threads, std::size_t, const stream& on, Kernel kernel,
                   Arguments... arguments) {
  if (w.heap() != heap_kind::host)
    throw error(code::launch_failed,
                "launch: this kernel was compiled for the CPU, but the world's heap is on a GPU: set PGAS_HEAP=host, or compile "
                "the source with nvcc");
  run_grid(w, on, blocks, threads, [kernel, arguments...](const thread_crew& crew) { kernel(crew, arguments...); });
}

#endif

}  // namespace pgas::detail
