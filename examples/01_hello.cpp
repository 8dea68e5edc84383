// Hello: every PE writes its number into the memory of PE 0, from a kernel.
#include <cstdio>
#include <vector>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

struct hello {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, int* guests) const {
    if (block.thread_rank() == 0) pgas::p(ctx, guests + ctx.my_pe(), ctx.my_pe(), 0);
  }
};

int main() try {
  pgas::world world = pgas::world::join();
  auto guests = world.allocate<int>(static_cast<std::size_t>(world.n_pes()), pgas::initialize::zero);

  pgas::launch(world, {.blocks = 1, .threads = 32}, hello{}, world.context(), guests.data());
  world.synchronize();
  world.barrier_all();

  if (world.my_pe() == 0) {
    std::vector<int> seen(guests.size());
    pgas::get(world, seen.data(), guests.data(), seen.size(), 0);
    std::printf("hello from %d PEs:", world.n_pes());
    for (const int pe : seen) std::printf(" %d", pe);
    std::printf("\n");
  }
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
