// A shared library with a kernel. It is compiled twice, as two independent libraries.
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"
#include "two_libraries.hpp"

namespace {

// Both libraries intentionally use the same name.
struct step {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, int* cell, pgas::signal_t* signal, int add) const {
    if (block.thread_rank() != 0) return;
    const int right = (ctx.my_pe() + 1) % ctx.n_pes();
    pgas::atomic_add(ctx, cell, add, right);
    pgas::fence(ctx);
    pgas::signal_add(ctx, signal, 1, right);
    pgas::wait_until(ctx, signal, pgas::cmp::ge, 1);
  }
};

}  // namespace

int LIBRARY_FUNCTION(pgas::world& world) {
  auto cell = world.allocate<int>(1, pgas::initialize::zero);
  auto signal = world.allocate<pgas::signal_t>(1, pgas::initialize::zero);
  pgas::launch(world, {.blocks = 1, .threads = 32}, step{}, world.context(), cell.data(), signal.data(), LIBRARY_VALUE);
  world.synchronize();
  return pgas::g(world, cell.data(), world.my_pe());
}
