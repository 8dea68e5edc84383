// The largest launches. On either heap, with any number of PEs; compiled by g++ and by nvcc.
#include <gtest/gtest.h>

#include <algorithm>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

/// One signal to the right, and all blocks wait for the left one's.
struct signal_and_wait {
  template <class Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, std::uint64_t* signal) const {
    if (block.block_rank() == 0 && block.thread_rank() == 0)
      pgas::signal_add(ctx, signal, 1, (ctx.my_pe() + 1) % ctx.n_pes());
    pgas::wait_until(ctx, block, signal, pgas::cmp::ge, std::uint64_t{1});
  }
};

// Beyond load and store it is a kernel of the target's proxy that adds: blocks that wait for it must not fill the GPU.
TEST(Launch, of_all_blocks_that_are_admitted_leaves_the_proxy_room) {
  pgas::world world = pgas::world::join();
  auto signal = world.allocate<std::uint64_t>(1, pgas::initialize::zero);
  const pgas::context ctx = world.context();
  unsigned blocks = pgas::max_resident_blocks(world, 256, 0, signal_and_wait{}, ctx, signal.data());
  if (world.heap() == pgas::heap_kind::host) blocks = std::min(blocks, 8u);  // they are as many threads, or more
  world.barrier_all();
  pgas::launch(world, {.blocks = blocks, .threads = 256}, signal_and_wait{}, ctx, signal.data());
  world.synchronize();
  EXPECT_EQ(pgas::g(world, signal.data(), world.my_pe()), 1u);
  world.barrier_all();
}

}  // namespace
