/// @file
/// The library's kernels for host code: functions that enqueue them, and the list of all kernels. A world loads the
/// kernels when it joins. A later load would wait for a spinning kernel, and this kernel may be waiting for the kernel
/// that is to be loaded. The bodies of the kernels are device operations.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "device/operation_request.hpp"
#include "pgas/detail/isa/ptx_warp.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/impl/reduce/collective_request.hpp"
#include "pgas/device/impl/reduce/oneshot_reduce.hpp"
#include "pgas/device/impl/sync/grid_barrier.hpp"

namespace pgas::detail::cuda {

/// Enqueues one operation. Kernels must be able to access all memory of the operation.
[[nodiscard]] cudaError_t launch_operation(const operation_request& request, cudaStream_t stream);

/// The stack size of a thread, as large as CUDA's default limit.
inline constexpr unsigned used_stack_bytes = 1024;
[[nodiscard]] cudaError_t launch_stack_user(cudaStream_t stream);

/// Enqueues a list of atomic operations. One warp executes the list, because a single warp is the most likely to fit
/// beside other kernels.
[[nodiscard]] cudaError_t launch_updates(batched_atomic* list, unsigned count, cudaStream_t stream);
/// The resources of a multiprocessor that the kernel of launch_updates() needs, on the current GPU.
[[nodiscard]] cudaError_t describe_updates(cudaFuncAttributes& about);
/// Words in mapped memory, by which the host requests readings of the clock from a kernel.
struct clock_rounds {
  std::uint32_t asked = 0;
  std::uint32_t answered = 0;
  std::uint64_t time = 0;
};
/// Enqueues a kernel that reads the clock each time the host raises `asked`, and ends after `rounds` readings.
[[nodiscard]] cudaError_t launch_clock_reader(clock_rounds* shared, std::uint32_t rounds, cudaStream_t stream);

/// Enqueues a request whose element type is in this type_group.
template <class Types>
[[nodiscard]] cudaError_t launch_collective_of(const context& context, const team_view& team,
                                               const collective_request& request, grid_state* blocks,
                                               cudaStream_t stream);
/// Enqueues a request. A failure ends the kernel early and is stored in the context's failure record. Defined in
/// cuda_device.cpp: if this function were defined beside the template, each file of kernels would compile the kernels
/// of all groups.
/// *Errors* cudaErrorInvalidValue for an operation that does not support the type.
[[nodiscard]] cudaError_t launch_collective(const context& context, const team_view& team,
                                            const collective_request& request, grid_state* blocks, cudaStream_t stream);

/// The largest number of threads in a block of a collective. With more threads, each would have too few registers.
inline constexpr unsigned max_collective_threads = 512;

/// The number of blocks of a request. It is the same on all members, except for collect(). One block moves about 40
/// GB/s.
[[nodiscard]] inline unsigned blocks_for(const collective_request& request, const team_view& team) {
  // The algorithm is one-shot only if the data also fits into the staging memory.
  const bool oneshot = request.what == collective_kind::reduce && has_oneshot_staging(team);
  const bool by_member =
      oneshot || request.what <= collective_kind::alltoalls || request.what == collective_kind::reduce_scatter;
  // without staging: data goes in and out
  const std::size_t times = by_member ? static_cast<std::size_t>(team.n_pes()) : 2;
  const std::size_t bytes = request.count * request.element_bytes * times;
  // The bytes that fit into LL packets. A grid of one block uses all packets. Otherwise each block has separate
  // packets, and blocks that fill only half of their packets are faster.
  constexpr std::size_t packets = team_state_layout::packet_data_bytes(true);
  const std::size_t each =
      oneshot && bytes > packets && bytes <= packets * request.most_blocks ? packets / 2 : std::size_t{32} << 10;
  return static_cast<unsigned>(std::clamp((bytes + each - 1) / each, std::size_t{1}, std::size_t{request.most_blocks}));
}

/// The number of threads of a request's block. A barrier alone is fastest with one warp.
[[nodiscard]] constexpr unsigned threads_for(const collective_request& request) {
  const bool only_barrier = request.what <= collective_kind::word_barrier;
  return only_barrier ? warp_size : max_collective_threads;
}

/// The kernels of the library. kernel_launcher.cuh adds them before main() begins, or while the library is loaded.
[[nodiscard]] inline std::vector<const void*>& library_kernels() {
  static std::vector<const void*> all;
  return all;
}

/// Loads all kernels into the current context. @param stack_bytes receives the largest stack of a thread
[[nodiscard]] inline cudaError_t load_library_kernels(std::size_t& stack_bytes) {
  cudaFuncAttributes about{};
  for (const void* kernel : library_kernels()) {
    if (const cudaError_t failed = cudaFuncGetAttributes(&about, kernel); failed != cudaSuccess) return failed;
    if (about.localSizeBytes > stack_bytes) stack_bytes = about.localSizeBytes;
  }
  return cudaSuccess;
}

}  // namespace pgas::detail::cuda
