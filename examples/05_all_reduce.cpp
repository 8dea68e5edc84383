// An all-reduce written with put_signal: every PE puts its vector into an inbox of every other PE, then adds up the
// vectors in PE order, so that all PEs get the same bits.
#include <cstdio>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

struct all_reduce {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, float* sum, const float* mine, float* inbox,
                          std::uint64_t* arrived, int n) const {
    const int me = ctx.my_pe();
    const int pes = ctx.n_pes();
    for (int hop = 0; hop < pes; ++hop) {  // start with the neighbour, so that not all PEs write to PE 0 first
      const int pe = (me + 1 + hop) % pes;
      pgas::put_signal(ctx, block, inbox + me * n, mine, static_cast<std::size_t>(n), arrived + me, 1,
                       pgas::signal_op::set, pe);
    }
    for (int pe = 0; pe < pes; ++pe) pgas::wait_until(ctx, block, arrived + pe, pgas::cmp::eq, 1);
    for (int i = static_cast<int>(block.thread_rank()); i < n; i += static_cast<int>(block.size())) {
      float total = 0;
      for (int pe = 0; pe < pes; ++pe) total += inbox[pe * n + i];
      sum[i] = total;
    }
  }
};

int main() try {
  constexpr int n = 10'000;
  pgas::world world = pgas::world::join();
  const int pes = world.n_pes();
  auto sum = world.allocate<float>(n);
  auto mine = world.allocate<float>(n);
  auto inbox = world.allocate<float>(static_cast<std::size_t>(n * pes));
  auto arrived = world.allocate<std::uint64_t>(static_cast<std::size_t>(pes), pgas::initialize::zero);

  float values[n];
  for (int i = 0; i < n; ++i) values[i] = static_cast<float>((world.my_pe() + 1) * (i % 100));
  pgas::put(world, mine.data(), values, n, world.my_pe());

  pgas::launch(world, {.blocks = 1, .threads = 256}, all_reduce{}, world.context(), sum.data(), mine.data(),
               inbox.data(), arrived.data(), n);
  world.synchronize();

  pgas::get(world, values, sum.data(), n, world.my_pe());
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += values[i] != static_cast<float>(pes * (pes + 1) / 2 * (i % 100));
  world.barrier_all();
  if (world.my_pe() == 0) std::printf("%d PEs summed %d values each: %d errors\n", pes, n, wrong);
  return wrong == 0 ? 0 : 1;
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
