// Kernels with known operations, compiled with PGAS_TRACE: their operations are in the trace.
//     traced_kernels ROUNDS       0: a kernel waits for a word that is never written
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

constexpr std::size_t length = 16;

struct memory {
  std::uint64_t* data;
  std::uint64_t* other;
  pgas::signal_t* ring;    // set by the neighbour
  pgas::signal_t* taken;   // the neighbour adds to the word, and this PE subtracts
  std::uint64_t* counter;  // a word of PE 0 to which all PEs add
};

struct rounds {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, memory m, int n) const {
    const int next = (ctx.my_pe() + 1) % ctx.n_pes();
    for (int round = 1; round <= n; ++round) {
      const auto number = static_cast<std::uint64_t>(round);
      pgas::put_signal(ctx, block, m.data, m.data + length, length, m.ring, number, pgas::signal_op::set, next);
      pgas::wait_until(ctx, block, m.ring, pgas::cmp::ge, number);
      if (block.thread_rank() == 0) {
        pgas::signal_add(ctx, m.taken, 1, next);
        pgas::signal_take(ctx, m.taken, 1);
        pgas::atomic_add(ctx, m.counter, 1, 0);
        static_cast<void>(pgas::atomic_fetch_add(ctx, m.counter, 1, 0));
        pgas::p(ctx, m.other, number, next);
        static_cast<void>(pgas::g(ctx, m.other, next));
      }
      pgas::put(ctx, block, m.data, m.data + length, length, next);
      pgas::get(ctx, block, m.data + length, m.data, length, next);
      pgas::barrier(ctx, block);
      pgas::reduce(ctx, block, ctx.world(), m.other, m.data, 1, pgas::op::sum{});
    }
  }
};

struct wait_in_vain {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block, pgas::context ctx, const pgas::signal_t* word) const {
    pgas::wait_until(ctx, word, pgas::cmp::ge, 1);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1;
  try {
    pgas::world world = pgas::world::join();
    auto data = world.allocate<std::uint64_t>(2 * length, pgas::initialize::zero);
    auto other = world.allocate<std::uint64_t>(1, pgas::initialize::zero);
    auto words = world.allocate<pgas::signal_t>(3, pgas::initialize::zero);
    if (n == 0) pgas::launch(world, {.blocks = 1, .threads = 1}, wait_in_vain{}, world.context(), words.data());
    pgas::launch(world, {.blocks = 1, .threads = 4}, rounds{}, world.context(),
                 memory{data.data(), other.data(), words.data(), words.data() + 1, words.data() + 2}, n);
    world.synchronize();
    world.leave();
  } catch (const pgas::error& failed) {
    std::fprintf(stderr, "%s\n", failed.what());
    return 1;
  }
}
