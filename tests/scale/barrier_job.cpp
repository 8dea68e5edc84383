// Measures barriers of kernels. PE 0 prints the number of PEs and the time of a barrier in microseconds, the smallest
// of five runs.
//     barrier_job [BARRIERS]
// With PGAS_P2P=0 every PE is a domain.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

struct barriers {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, int count) const {
    for (int i = 0; i < count; ++i) pgas::barrier(ctx, block);
  }
};

}  // namespace

int main(int count, char** words) try {
  const int times = count > 1 ? std::atoi(words[1]) : 200;
  pgas::world world = pgas::world::join();
  double best = 1e9;
  for (int run = 0; run < 6; ++run) {
    world.barrier_all();
    const auto begin = std::chrono::steady_clock::now();
    pgas::launch(world, {.blocks = 1, .threads = 1}, barriers{}, world.context(), times);
    world.synchronize();
    const std::chrono::duration<double, std::micro> lasted = std::chrono::steady_clock::now() - begin;
    if (run > 0) best = std::min(best, lasted.count() / times);  // in the first run, the proxies connect
  }
  if (world.my_pe() == 0) std::printf("%4d PEs  barrier %9.1f us\n", world.n_pes(), best);
  world.leave();
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
