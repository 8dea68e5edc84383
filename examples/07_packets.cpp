// Small halos: heat in a rod that is divided among the PEs. In every step neighbours exchange one value in each
// direction through packet channels. Each value carries its flag, so an exchange takes one latency of the link.
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

struct conduct {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, double* now, double* next, pgas::packet_line* boxes,
                          int cells, int steps) const {
    // now[0] and now[cells + 1] are the neighbours' cells. The ends of the rod are fixed.
    const bool first = ctx.my_pe() == 0;
    const bool last = ctx.my_pe() == ctx.n_pes() - 1;
    pgas::packet_line* const from_left = boxes;
    pgas::packet_line* const from_right = boxes + pgas::packet_lines(sizeof(double));
    pgas::packet_channel left(ctx, block, from_left, from_right, sizeof(double), first ? 0 : ctx.my_pe() - 1);
    pgas::packet_channel right(ctx, block, from_right, from_left, sizeof(double), last ? ctx.my_pe() : ctx.my_pe() + 1);
    for (int step = 0; step < steps; ++step) {
      if (!first) pgas::send(ctx, block, left, now + 1, 1);
      if (!last) pgas::send(ctx, block, right, now + cells, 1);
      if (!first) pgas::receive(ctx, block, left, now, 1);
      if (!last) pgas::receive(ctx, block, right, now + cells + 1, 1);
      for (int i = 1 + static_cast<int>(block.thread_rank()); i <= cells; i += static_cast<int>(block.size()))
        next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
      block.sync();
      double* const old = now;
      now = next;
      next = old;
    }
  }
};

int main() try {
  constexpr int cells = 500;
  constexpr int steps = 1000;
  pgas::world world = pgas::world::join();
  auto rod = world.allocate<double>(2 * (cells + 2), pgas::initialize::zero);
  auto boxes = world.allocate<pgas::packet_line>(2 * pgas::packet_lines(sizeof(double)), pgas::initialize::zero);

  // The rod is hot at its left end and cold at its right end. The result is compared to the computation on one PE.
  constexpr double hot = 100;
  if (world.my_pe() == 0) {
    pgas::p(world, rod.data(), hot, 0);
    pgas::p(world, rod.data() + cells + 2, hot, 0);
  }
  world.barrier_all();
  pgas::launch(world, {.blocks = 1, .threads = 256}, conduct{}, world.context(), rod.data(), rod.data() + cells + 2,
               boxes.data(), cells, steps);
  world.synchronize();
  world.barrier_all();

  int wrong = 0;
  if (world.my_pe() == 0) {
    const int all = cells * world.n_pes();
    std::vector<double> now(static_cast<std::size_t>(all) + 2, 0);
    now[0] = hot;
    std::vector<double> next = now;
    for (int step = 0; step < steps; ++step) {
      for (std::size_t i = 1; i + 1 < now.size(); ++i) next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
      std::swap(now, next);
    }
    for (int i = 0; i < all; ++i) {
      const double reached = pgas::g(world, rod.data() + 1 + i % cells, i / cells);  // `steps` is even
      wrong += std::abs(reached - now[static_cast<std::size_t>(i) + 1]) > 1e-9;
    }
    std::printf("%d steps over %d cells on %d PEs: %d cells differ from the serial result\n", steps, all, world.n_pes(),
                wrong);
  }
  world.barrier_all();
  return wrong == 0 ? 0 : 1;
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
