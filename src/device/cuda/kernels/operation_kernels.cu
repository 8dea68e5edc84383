// The kernels of single operations, of lists of updates, and of the clock.
#include "device/both_backends/execute_operation.hpp"
#include "device/cuda/kernels/kernel_shapes.hpp"
#include "pgas/detail/isa/ptx_gpu_scope.hpp"

namespace pgas::detail::cuda {

extern "C" __global__ void __launch_bounds__(launch_bound(max_operation_threads), 1)
    pgas_operation(operation_request request) {
  wait_for_predecessor();
  execute_operation(request, this_block());
}

extern "C" __global__ void __launch_bounds__(launch_bound(max_operation_threads), 1)
    pgas_strided(operation_request request) {
  wait_for_predecessor();
  const block mine;
  execute_strided(request, {mine.block_rank() * mine.size() + mine.thread_rank(), mine.num_blocks() * mine.size()});
}

extern "C" __global__ void __launch_bounds__(max_list_threads, 2)
    pgas_list(const __grid_constant__ list_request request) {
  wait_for_predecessor();
  const block mine;
  execute_list(request, mine, {mine.block_rank() * mine.size() + mine.thread_rank(), mine.num_blocks() * mine.size()});
}

/// All lanes execute updates at the same time, one each, because the list is in host memory, and reading the list takes
/// longer than the updates. The lanes work in steps. A new step begins with each fenced update, and with each update on
/// a word that an earlier lane also updates.
extern "C" __global__ void __launch_bounds__(launch_bound(warp_size), 1)
    pgas_updates(batched_atomic* list, unsigned count) {
  wait_for_predecessor();
  const unsigned lane = threadIdx.x;
  const lane_mask up_to_me = every_lane >> (warp_size - 1 - lane);
  for (unsigned first = 0; first < count; first += warp_size) {
    const bool mine = first + lane < count;
    batched_atomic what;
    if (mine) what = list[first + lane];
    // The first update of the list is fenced, so that the whole list follows the earlier work of the stream.
    const bool fenced = mine && (what.fenced || first + lane == 0);
    // The index of the 8 bytes that contain the word. Two words of 4 bytes can have the same index; the second word
    // then waits for the next step, although it is another word.
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

/// A kernel with used_stack_bytes of stack. The kernel is launched only so that the driver allocates the memory for
/// stacks.
extern "C" __global__ void __launch_bounds__(launch_bound(warp_size), 1) pgas_use_stack(unsigned at) {
  wait_for_predecessor();
  // Accessed by a variable index, so that the compiler does not keep the array in registers.
  volatile unsigned char stack[used_stack_bytes];
  stack[at % used_stack_bytes] = 1;
  static_cast<void>(stack[(at + 1) % used_stack_bytes]);
}

extern "C" __global__ void __launch_bounds__(launch_bound(warp_size), 1)
    pgas_read_clock(clock_rounds* shared, std::uint32_t rounds) {
  wait_for_predecessor();
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    while (load_relaxed(&shared->asked) < round) {
    }
    store_relaxed(&shared->time, clock_ns());
    store_release(&shared->answered, round);
  }
}

}  // namespace pgas::detail::cuda
