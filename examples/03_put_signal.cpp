// A pipeline with put_signal: chunks travel from PE 0 to the last PE, and each PE on the way adds one to every value.
// The signal counts the chunks that have arrived, so all PEs work at the same time, without a barrier.
#include <cstdio>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

struct pipeline {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, int* data, std::uint64_t* arrived, int chunks,
                          int length) const {
    const int me = ctx.my_pe();
    const bool last = me == ctx.n_pes() - 1;
    for (int c = 0; c < chunks; ++c) {
      int* chunk = data + c * length;
      if (me > 0) pgas::wait_until(ctx, block, arrived, pgas::cmp::ge, static_cast<std::uint64_t>(c) + 1);
      for (int i = static_cast<int>(block.thread_rank()); i < length; i += static_cast<int>(block.size()))
        chunk[i] += 1;
      block.sync();
      if (!last)
        pgas::put_signal(ctx, block, chunk, chunk, static_cast<std::size_t>(length), arrived, 1, pgas::signal_op::add,
                         me + 1);
    }
  }
};

int main() try {
  constexpr int chunks = 64;
  constexpr int length = 1000;
  pgas::world world = pgas::world::join();
  auto data = world.allocate<int>(chunks * length, pgas::initialize::zero);
  auto arrived = world.allocate<std::uint64_t>(1, pgas::initialize::zero);

  pgas::launch(world, {.blocks = 1, .threads = 256}, pipeline{}, world.context(), data.data(), arrived.data(), chunks,
               length);
  world.synchronize();
  world.barrier_all();

  const int last = world.n_pes() - 1;
  int wrong = 0;
  if (world.my_pe() == 0) {
    for (const int i : {0, length, chunks * length - 1})
      wrong += pgas::g(world, data.data() + i, last) != world.n_pes();
    std::printf("%d chunks went through %d PEs, the last PE got %d in each value: %d errors\n", chunks, world.n_pes(),
                pgas::g(world, data.data(), last), wrong);
  }
  world.barrier_all();
  return wrong == 0 ? 0 : 1;
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
