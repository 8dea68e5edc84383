#include "device/both_backends/execute_operation.hpp"
#include "device/cuda/kernels/kernel_launcher.cuh"

namespace pgas::detail::cuda {

namespace {

constexpr unsigned most_threads = 256;

struct operation_kernel {
  static constexpr unsigned max_threads = most_threads;
  __device__ void operator()(const operation_request& request) const { execute_operation(request, this_block()); }
};

struct strided_kernel {
  static constexpr unsigned max_threads = most_threads;
  __device__ void operator()(const operation_request& request) const {
    const block mine;
    execute_strided(request, {mine.block_rank() * mine.size() + mine.thread_rank(), mine.num_blocks() * mine.size()});
  }
};

/// Each lane executes one update, all at the same time, because the list is in host memory and reading it takes longer
/// than the updates. The lanes work in steps. A new step begins with each fenced update, and with each update on a word
/// that an earlier lane also updates.
struct update_kernel {
  static constexpr unsigned max_threads = warp_size;
  __device__ void operator()(batched_atomic* list, unsigned count) const {
    const unsigned lane = threadIdx.x;
    const lane_mask up_to_me = every_lane >> (warp_size - 1 - lane);
    for (unsigned first = 0; first < count; first += warp_size) {
      const bool mine = first + lane < count;
      batched_atomic what;
      if (mine) what = list[first + lane];
      // The first update of the list is fenced, so that the whole list follows the earlier work of the stream.
      const bool fenced = mine && (what.fenced || first + lane == 0);
      // Two words of 4 bytes can have the same place.
      const auto place = reinterpret_cast<std::uintptr_t>(what.at) / sizeof(std::uint64_t);
      const bool again = (__match_any_sync(every_lane, mine ? place : lane) & up_to_me) != lane_mask{1} << lane;
      const lane_mask starts = __ballot_sync(every_lane, fenced || (mine && again));
      const int step_of_mine = lanes_in(starts & up_to_me);
      for (int step = 0; step <= lanes_in(starts); ++step) {
        __syncwarp();
        const bool my_turn = mine && step == step_of_mine;
        // All lanes execute the fence, because lanes of later steps are also ordered after it.
        if (__any_sync(every_lane, my_turn && fenced)) fence_release();
        if (my_turn) what.old = execute_update(what);
      }
      if (mine && what.fetches) store_relaxed(&list[first + lane].old, what.old);
    }
  }
};

/// A kernel with used_stack_bytes of stack. It is launched only so that the driver allocates the memory for stacks.
struct stack_kernel {
  static constexpr unsigned max_threads = warp_size;
  __device__ void operator()(unsigned at) const {
    // Accessed by a variable index, so that the compiler does not keep the array in registers.
    volatile unsigned char stack[used_stack_bytes];
    stack[at % used_stack_bytes] = 1;
    static_cast<void>(stack[(at + 1) % used_stack_bytes]);
  }
};

struct clock_kernel {
  static constexpr unsigned max_threads = warp_size;
  __device__ void operator()(clock_rounds* shared, std::uint32_t rounds) const {
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      while (load_relaxed(&shared->asked) < round) {
      }
      store_relaxed(&shared->time, clock_ns());
      store_release(&shared->answered, round);
    }
  }
};

}  // namespace

cudaError_t launch_clock_reader(clock_rounds* shared, std::uint32_t rounds, cudaStream_t stream) {
  return kernel_launcher<clock_kernel>::launch(1, 1, stream, shared, rounds);
}

cudaError_t launch_updates(batched_atomic* list, unsigned count, cudaStream_t stream) {
  return kernel_launcher<update_kernel>::launch(1, warp_size, stream, list, count);
}

cudaError_t describe_updates(cudaFuncAttributes& about) {
  return kernel_launcher<update_kernel>::describe<batched_atomic*, unsigned>(about);
}

cudaError_t launch_operation(const operation_request& request, cudaStream_t stream) {
  if (request.what == operation_request::kind::strided) {
    constexpr std::uint64_t threads = most_threads;
    constexpr std::uint64_t most_blocks = 64;  // enough blocks to use the bandwidth of a link or of the memory
    const std::uint64_t pieces = request.count * request.bytes / unit_of_copy(request);
    const std::uint64_t blocks = (pieces + threads * 8 - 1) / (threads * 8);
    return kernel_launcher<strided_kernel>::launch(static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks),
                                                   threads, stream, request);
  }
  const bool many = request.what == operation_request::kind::wait && request.count > warp_size;
  return kernel_launcher<operation_kernel>::launch(1, many ? most_threads : warp_size, stream, request);
}

cudaError_t launch_stack_user(cudaStream_t stream) { return kernel_launcher<stack_kernel>::launch(1, 1, stream, 0u); }

}  // namespace pgas::detail::cuda
