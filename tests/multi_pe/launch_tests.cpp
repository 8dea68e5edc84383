// The largest launches, and overlapping launches. The tests run on either heap, with any number of PEs, compiled by g++
// and by nvcc.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

/// Sends one signal to the right. All blocks wait for the signal of the left PE.
struct signal_and_wait {
  template <class Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, std::uint64_t* signal) const {
    if (block.block_rank() == 0 && block.thread_rank() == 0)
      pgas::signal_add(ctx, signal, 1, (ctx.my_pe() + 1) % ctx.n_pes());
    pgas::wait_until(ctx, block, signal, pgas::cmp::ge, std::uint64_t{1});
  }
};

// On proxied PEs a kernel of the target's proxy adds the signal, so the waiting blocks must leave room for this kernel.
TEST(Launch, of_all_blocks_that_are_admitted_leaves_the_proxy_room) {
  pgas::world world = pgas::world::join();
  auto signal = world.allocate<std::uint64_t>(1, pgas::initialize::zero);
  const pgas::context ctx = world.context();
  unsigned blocks = pgas::max_resident_blocks(world, 256, 0, signal_and_wait{}, ctx, signal.data());
  // On the host heap, the test uses at most 8 blocks. The host heap always admits the threads of 8 blocks.
  if (world.heap() == pgas::heap_kind::host) blocks = std::min(blocks, 8u);
  world.barrier_all();
  pgas::launch(world, {.blocks = blocks, .threads = 256}, signal_and_wait{}, ctx, signal.data());
  world.synchronize();
  EXPECT_EQ(pgas::g(world, signal.data(), world.my_pe()), 1u);
  world.barrier_all();
}

struct small_block {
  static constexpr unsigned max_threads = 64;
  static constexpr unsigned min_blocks = 1;

  template <class Block>
  PGAS_FN void operator()(Block, int*) const {}
};

TEST(Launch, of_a_block_larger_than_max_threads_is_refused_on_either_heap) {
  pgas::world world = pgas::world::join();
  int* const none = nullptr;
  EXPECT_GT(pgas::max_resident_blocks(world, 64, 0, small_block{}, none), 0u);
  EXPECT_EQ(pgas::max_resident_blocks(world, 65, 0, small_block{}, none), 0u);
  pgas::launch(world, {.blocks = 1, .threads = 64}, small_block{}, none);
  try {
    pgas::launch(world, {.blocks = 1, .threads = 65}, small_block{}, none);
    ADD_FAILURE() << "a block of 65 threads was launched";
  } catch (const pgas::error& refused) {
    EXPECT_EQ(refused.code(), pgas::code::launch_failed);
    EXPECT_NE(std::string(refused.what()).find("a block of 65 threads, but the kernel's max_threads is 64"),
              std::string::npos)
        << refused.what();
  }
  world.synchronize();
}

/// Whether the driver allows launches to overlap. The GPU must allow overlapping too: first_launch checks
/// `__CUDA_ARCH__`.
[[nodiscard]] bool driver_overlaps() {
  int version = 0;
#if defined(__CUDACC__)
  if (cudaDriverGetVersion(&version) != cudaSuccess) version = 0;
#endif
  return version >= 12030;
}

/// Allows the next launch to begin. If launches overlap, waits until the next launch sets `told`.
struct first_launch {
  bool overlapped;

  template <class Block>
  PGAS_FN void operator()(Block block, [[maybe_unused]] pgas::context ctx, [[maybe_unused]] std::uint64_t* told,
                          std::uint64_t* value, std::uint64_t round) const {
    pgas::trigger_next_launch();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (overlapped) pgas::wait_until(ctx, block, told, pgas::cmp::ge, round);
#endif
    if (block.thread_rank() == 0) *value = round;
  }
};
struct overlapping_launch {
  template <class Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, std::uint64_t* told, const std::uint64_t* value,
                          std::uint64_t* seen, std::uint64_t round) const {
    if (block.thread_rank() != 0) return;
    pgas::signal_set(ctx, told, round, ctx.my_pe());
    pgas::await_earlier_launches();
    *seen = *value;
  }
};
struct third_launch {
  template <class Block>
  PGAS_FN void operator()(Block block, const std::uint64_t* value, const std::uint64_t* seen, std::uint64_t* right,
                          std::uint64_t round) const {
    if (block.thread_rank() == 0 && *value == round && *seen == round) ++*right;
  }
};

TEST(Launch, that_overlaps_runs_beside_the_earlier_one_and_ends_after_it) {
  pgas::world world = pgas::world::join();
  auto words = world.allocate<std::uint64_t>(4, pgas::initialize::zero);
  const pgas::context ctx = world.context();
  std::uint64_t *const told = words.data(), *const value = told + 1, *const seen = told + 2, *const right = told + 3;
  constexpr std::uint64_t rounds = 200;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    pgas::launch(world, {.blocks = 1, .threads = 32}, first_launch{driver_overlaps()}, ctx, told, value, round);
    pgas::launch(world, {.blocks = 1, .threads = 32, .overlaps = true}, overlapping_launch{}, ctx, told, value, seen,
                 round);
    pgas::launch(world, {.blocks = 1, .threads = 32}, third_launch{}, value, seen, right, round);
  }
  world.synchronize();
  EXPECT_EQ(pgas::g(world, right, world.my_pe()), rounds);
  world.barrier_all();
}

}  // namespace
