// 08_from_nvshmem.cu in pgas's own interface: smooths a ring of values step by step. The context is an argument, one
// call puts a value with its signal, and the same source runs on the host heap.
#include <cstdio>
#include <utility>
#include <vector>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

struct smooth {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, float* now, float* next, int n, pgas::signal_t* arrived,
                          int steps, float* sum) const {
    const int pes = ctx.n_pes();
    const int left = (ctx.my_pe() + pes - 1) % pes;
    const int right = (ctx.my_pe() + 1) % pes;
    const int size = static_cast<int>(block.size());
    for (int step = 1; step <= steps; ++step) {
      pgas::put_signal(ctx, block, now + n + 1, now + 1, 1, arrived + 1, 1, pgas::signal_op::add, left);
      pgas::put_signal(ctx, block, now, now + n, 1, arrived, 1, pgas::signal_op::add, right);
      pgas::wait_until_all(ctx, block, arrived, 2, nullptr, pgas::cmp::ge, static_cast<pgas::signal_t>(step));
      for (int i = static_cast<int>(block.thread_rank()) + 1; i <= n; i += size)
        next[i] = (now[i - 1] + 2 * now[i] + now[i + 1]) / 4;
      block.sync();
      float* const done = now;
      now = next;
      next = done;
    }
    if (block.thread_rank() == 0) {
      *sum = 0;
      for (int i = 1; i <= n; ++i) *sum += now[i];
    }
  }
};

int main() try {
  pgas::world world = pgas::world::join();
  constexpr int n = 1000;
  constexpr int steps = 100;
  auto now = world.allocate<float>(n + 2, pgas::initialize::zero);
  auto next = world.allocate<float>(n + 2, pgas::initialize::zero);
  auto arrived = world.allocate<pgas::signal_t>(2, pgas::initialize::zero);
  auto sums = world.allocate<float>(2, pgas::initialize::zero);  // the sum of this PE, and the sum of all PEs
  if (world.my_pe() == 0) pgas::p(world, now.data() + 1, 1000.0F, 0);
  world.barrier_all();

  pgas::launch(world, {.blocks = 1, .threads = 256}, smooth{}, world.context(), now.data(), next.data(), n,
               arrived.data(), steps, sums.data());
  pgas::reduce(world.team(), world.stream(), sums.data() + 1, sums.data(), 1, pgas::op::sum{});
  world.synchronize();
  if (world.my_pe() == 0)
    std::printf("after %d steps the ring of %d PEs holds %.2f, its first value is %.2f\n", steps, world.n_pes(),
                static_cast<double>(pgas::g(world, sums.data() + 1, 0)),
                static_cast<double>(pgas::g(world, now.data() + 1, 0)));
  return 0;
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
