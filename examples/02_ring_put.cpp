// Ring put: every PE puts a row of values into its right neighbour's memory, with all threads of a block, and a barrier
// between writing and reading.
#include <cstdio>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

struct ring {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, int* inbox, int* row, int n, std::uint64_t* errors) const {
    const int me = ctx.my_pe();
    const int right = (me + 1) % ctx.n_pes();
    const int left = (me + ctx.n_pes() - 1) % ctx.n_pes();
    const int rank = static_cast<int>(block.thread_rank());
    const int threads = static_cast<int>(block.size());

    for (int i = rank; i < n; i += threads) row[i] = me * n + i;
    block.sync();  // the put below reads what other threads of the block wrote
    pgas::put(ctx, block, inbox, row, static_cast<std::size_t>(n), right);
    pgas::barrier(ctx, block);

    for (int i = rank; i < n; i += threads)
      if (inbox[i] != left * n + i) pgas::atomic_inc(ctx, errors, 0);
  }
};

int main() try {
  constexpr int n = 100'000;
  pgas::world world = pgas::world::join();
  auto inbox = world.allocate<int>(n);
  auto row = world.allocate<int>(n);
  auto errors = world.allocate<std::uint64_t>(1, pgas::initialize::zero);

  pgas::launch(world, {.blocks = 1, .threads = 256}, ring{}, world.context(), inbox.data(), row.data(), n,
               errors.data());
  world.synchronize();
  world.barrier_all();

  const std::uint64_t wrong = pgas::g(world, errors.data(), 0);
  if (world.my_pe() == 0)
    std::printf("%d PEs received %d values each from the left: %llu errors\n", world.n_pes(), n,
                static_cast<unsigned long long>(wrong));
  return wrong == 0 ? 0 : 1;
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
