/// @file
/// The two ways of starting a portable kernel, one for each compiler. The rest of launch() is in pgas/launch.hpp.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>

#include "pgas/detail/launch/launch_attributes.hpp"
#include "pgas/detail/struct_members.hpp"
#include "pgas/device/direct_context.hpp"
#include "pgas/device/grid.hpp"
#include "pgas/error.hpp"
#include "pgas/stream.hpp"
#include "pgas/world.hpp"

namespace pgas::detail {

/// Makes the world's GPU current on this thread during the lifetime of this object. Has no effect on the host heap.
class PGAS_API device_guard {
 public:
  explicit device_guard(world& w);
  ~device_guard();
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;

 private:
  world& world_;
};

/// The shape of a launch, with the defaults filled in.
struct launch_shape {
  unsigned blocks = 0;
  unsigned threads = 0;
  std::size_t shared_bytes = 0;
  bool resident = false;
  bool urgent = false;
  bool overlaps = false;
};

template <>
struct [[gnu::visibility("hidden")]] members_of<launch_shape>
    : member_list<&launch_shape::blocks, &launch_shape::threads, &launch_shape::shared_bytes, &launch_shape::resident,
                  &launch_shape::urgent, &launch_shape::overlaps> {
  static constexpr const char* name = "launch_config";
};

/// Throws if the world cannot launch kernels of this program. The error is the world's first failure, or
/// version_mismatch if the layout of contexts differs between the program's headers and the library.
PGAS_API void check_kernels(world& w, std::uint32_t layout);
/// The error of a launch whose context has another layout than the kernel expects.
[[nodiscard]] PGAS_API error wrong_context(std::uint32_t layout, std::uint32_t in_kernel);

/// Throws version_mismatch if an argument of a kernel is a context for headers of another version. For example, another
/// library of the process has made the context.
template <class Argument>
void check_argument(const Argument& argument) {
  if constexpr (std::is_same_v<Argument, context> || std::is_same_v<Argument, direct_context>) {
    const context passed = argument;
    if (passed.abi_ != context_layout) throw wrong_context(passed.abi_, context_layout);
  }
}

/// The shared state of a launch's blocks.
struct grid_place {
  grid_state* states;
  bool table;             ///< whether `states` is a table in which the launch reserves one state
  bool overlaps = false;  ///< whether the launch overlaps with the stream's earlier launch; if so, the kernel itself
                          ///< waits for that launch
};
/// Returns the state that the blocks of a launch on the stream `on` share.
[[nodiscard]] PGAS_API grid_place grid_area(world& w, const stream& on);
/// A kernel whose blocks must all be resident, and the GPU that must hold them.
struct resident_kernel {
  unsigned multiprocessors;  ///< the number of multiprocessors that this process may use
  unsigned each;             ///< the number of blocks that a multiprocessor holds
  unsigned threads;          ///< the number of threads in a block
  unsigned registers;        ///< the number of registers of a thread
};
/// The number of the kernel's blocks that this PE may have: the PE's part of the GPU's capacity, minus the blocks that
/// the proxy's kernel needs, if there is a proxy.
[[nodiscard]] PGAS_API unsigned admitted_blocks(world& w, const resident_kernel& kernel);

/// The error of a launch whose blocks cannot all be resident. @param otherwise the remedy for kernels in which no block
/// waits for another block
[[nodiscard]] PGAS_API error does_not_fit(unsigned long long blocks, unsigned threads, unsigned fit,
                                          const char* otherwise);

/// A kernel of launch(), registered before main() begins, or when its library is loaded. A world loads all registered
/// kernels into its GPU when it joins, and reserves their stacks. A later load would wait for running kernels, and
/// would block the proxy that a running kernel may be waiting for.
class PGAS_API registered_kernel {
 public:
  /// @param load a function that loads the kernel into the current context. The function returns the bytes of a
  /// thread's stack, or 0 on failure; the launch reports the failure
  explicit registered_kernel(std::size_t (*load)());
  ~registered_kernel();
  registered_kernel(const registered_kernel&) = delete;
  registered_kernel& operator=(const registered_kernel&) = delete;

 private:
  std::size_t (*load_)();
};

/// Kernels with the constants max_threads (threads in a block) and min_blocks (blocks that a multiprocessor must hold).
template <class Kernel>
concept bounded_kernel = requires {
  typename std::integral_constant<unsigned, Kernel::max_threads>;
  typename std::integral_constant<unsigned, Kernel::min_blocks>;
};

/// The largest number of threads in a block of the kernel.
template <class Kernel>
[[nodiscard]] constexpr unsigned largest_block() {
  if constexpr (bounded_kernel<Kernel>)
    return Kernel::max_threads;
  else
    return ~0u;  // only the device limits the size of a block
}

#if defined(__CUDACC__)

/// Runs the kernel. The address of an argument identifies the launch among all concurrent launches, including other
/// instances of its graph, because each launch has its own arguments in memory.
template <class Kernel, class... Arguments>
PGAS_FN void run_kernel(const grid_place& place, Kernel& kernel, Arguments&... arguments) {
  if (!place.overlaps) wait_for_predecessor();
  grid_visit visit{place.states, reinterpret_cast<std::uintptr_t>(&place), nullptr};
  const launched_block block = place.table ? launched_block(&visit) : launched_block(place.states);
  kernel(block, arguments...);
  // the kernel has returned on the first thread, so no thread of the block uses the state any more
  if (visit.state != nullptr) leave_state(*visit.state, block.num_blocks());
}

/// The entry points of portable kernels.
template <class Kernel, class... Arguments>
__global__ void kernel_entry(const __grid_constant__ grid_place place, Kernel kernel, Arguments... arguments) {
  run_kernel(place, kernel, arguments...);
}
template <bounded_kernel Kernel, class... Arguments>
__global__ void __launch_bounds__(Kernel::max_threads, Kernel::min_blocks)
    bounded_kernel_entry(const __grid_constant__ grid_place place, Kernel kernel, Arguments... arguments) {
  run_kernel(place, kernel, arguments...);
}

template <class Kernel, class... Arguments>
[[nodiscard]] constexpr auto entry_of() {
  if constexpr (bounded_kernel<Kernel>)
    return &bounded_kernel_entry<Kernel, Arguments...>;
  else
    return &kernel_entry<Kernel, Arguments...>;
}

template <class Kernel, class... Arguments>
inline const registered_kernel registration_of{[]() -> std::size_t {
  cudaFuncAttributes about{};
  if (cudaFuncGetAttributes(&about, entry_of<Kernel, Arguments...>()) == cudaSuccess) return about.localSizeBytes;
  static_cast<void>(cudaGetLastError());
  return 0;
}};

inline void check_launch(cudaError_t result, const launch_shape& shape) {
  if (result == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // clears the error, which is reported here and must not appear again in the
                                          // application
  throw error(code::launch_failed, "launch of " + std::to_string(shape.blocks) + " blocks of " +
                                       std::to_string(shape.threads) + " threads with " +
                                       std::to_string(shape.shared_bytes) +
                                       " bytes of shared memory: " + cudaGetErrorString(result));
}

/// A kernel that is loaded on a GPU.
struct loaded_kernel {
  resident_kernel limits;
  bool early;  ///< the result of may_be_set_up_early()
};

/// Loads the kernel for the current GPU, and queries the number of its blocks that a multiprocessor holds. Each thread
/// caches the last result, because the driver takes microseconds for the query.
template <class Kernel, class... Arguments>
[[nodiscard]] loaded_kernel describe_kernel(const launch_shape& shape) {
  struct answer {
    int gpu = -1;
    unsigned threads = 0;
    std::size_t shared_bytes = 0;
    loaded_kernel kernel{};
  };
  static thread_local answer last;
  int gpu = 0;
  check_launch(cudaGetDevice(&gpu), shape);
  if (last.gpu == gpu && last.threads == shape.threads && last.shared_bytes == shape.shared_bytes) return last.kernel;
  const auto entry = entry_of<Kernel, Arguments...>();
  cudaFuncAttributes about{};
  check_launch(cudaFuncGetAttributes(&about, entry), shape);
  if (shape.shared_bytes > static_cast<std::size_t>(about.maxDynamicSharedSizeBytes)) {
    // The attribute limits the kernel's dynamic shared memory, for all threads of the process. A high limit costs
    // nothing, so the maximum is set.
    int most = 0;
    check_launch(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu), shape);
    check_launch(cudaFuncSetAttribute(reinterpret_cast<const void*>(entry), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      most - static_cast<int>(about.sharedSizeBytes)),
                 shape);
  }
  int multiprocessors = 0;  // under MPS, only the multiprocessors that this process may use
  check_launch(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, gpu), shape);
  int each = 0;
  check_launch(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, entry, static_cast<int>(shape.threads), shape.shared_bytes),
      shape);
  last = {gpu,
          shape.threads,
          shape.shared_bytes,
          {{static_cast<unsigned>(multiprocessors), static_cast<unsigned>(each), shape.threads,
            static_cast<unsigned>(about.numRegs)},
           may_be_set_up_early(about)}};
  return last.kernel;
}

/// Loads the kernel on the world's GPU, as describe_kernel() does on the current GPU. Throws if the heap is on the
/// host.
template <class Kernel, class... Arguments>
[[nodiscard]] loaded_kernel load_kernel(world& w, const launch_shape& shape) {
  if (w.heap() != heap_kind::cuda)
    throw error(
        code::launch_failed,
        "launch: this kernel was compiled by nvcc for a GPU, but the world's heap is on the host: use a machine with a "
        "GPU, or the same source compiled by a C++ compiler");
  static_cast<void>(&registration_of<Kernel, Arguments...>);
  const device_guard guard(w);
  return describe_kernel<Kernel, Arguments...>(shape);
}

template <class Kernel, class... Arguments>
[[nodiscard]] unsigned resident_blocks(world& w, const launch_shape& shape) {
  return admitted_blocks(w, load_kernel<Kernel, Arguments...>(w, shape).limits);
}

template <class Kernel, class... Arguments>
void launch_kernel(world& w, const launch_shape& shape, const stream& on, Kernel kernel, Arguments... arguments) {
  const auto [limits, may_be_early] = load_kernel<Kernel, Arguments...>(w, shape);
  const unsigned fit = admitted_blocks(w, limits);
  if (shape.resident && shape.blocks > fit)
    throw does_not_fit(shape.blocks, shape.threads, fit, "say resident = false");
  const device_guard guard(w);
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(shape.blocks);
  how.blockDim = dim3(shape.threads);
  how.dynamicSmemBytes = shape.shared_bytes;
  how.stream = static_cast<cudaStream_t>(on.native(w.state()));
  cudaLaunchAttribute asked[2];
  how.attrs = asked;
  if (may_be_early) asked[how.numAttrs++] = early_set_up();
  if (shape.urgent) asked[how.numAttrs++] = highest_priority();
  grid_place place = grid_area(w, on);
  place.overlaps = shape.overlaps;
  // Does not use <<<>>>, because cudaGetLastError() returns the errors of <<<>>> together with errors of the
  // application.
  check_launch(cudaLaunchKernelEx(&how, entry_of<Kernel, Arguments...>(), place, kernel, arguments...), shape);
}

#else

/// Enqueues calls of `member`, one for every thread of every block. If `shape.resident` is set, all threads run at the
/// same time, each on its own CPU thread. If `shape.resident` is not set, as many blocks run at a time as the CPU can
/// run.
PGAS_API void run_grid(world& w, const stream& on, const given<launch_shape>& shape,
                       std::function<void(const cpu_block&)> member);
/// The number of blocks of `threads` threads that can run at the same time.
[[nodiscard]] PGAS_API unsigned resident_on_cpu(world& w, unsigned threads);

inline void expect_host_heap(world& w) {
  if (w.heap() != heap_kind::host)
    throw error(code::launch_failed,
                "launch: this kernel was compiled for the CPU, but the world's heap is on a GPU: set PGAS_HEAP=host, "
                "or compile "
                "the source with nvcc");
}

template <class Kernel, class... Arguments>
[[nodiscard]] unsigned resident_blocks(world& w, const launch_shape& shape) {
  expect_host_heap(w);
  return resident_on_cpu(w, shape.threads);
}

template <class Kernel, class... Arguments>
void launch_kernel(world& w, const launch_shape& shape, const stream& on, Kernel kernel, Arguments... arguments) {
  expect_host_heap(w);
  run_grid(w, on, give(shape), [kernel, arguments...](const cpu_block& mine) {
    const cpu_thread_scope here(mine);
    kernel(mine, arguments...);
  });
}

#endif

}  // namespace pgas::detail
