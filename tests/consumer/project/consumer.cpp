// A user's program: a kernel on the host heap writes a value, and the host reads it.
#include <cstdio>
#include <pgas/device.hpp>
#include <pgas/pgas.hpp>

struct mark {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, int* where) const {
    if (block.thread_rank() == 0) pgas::p(ctx, where, 42, ctx.my_pe());
  }
};

int main() try {
  pgas::world world = pgas::world::join();
  auto where = world.allocate<int>(1, pgas::initialize::zero);
  pgas::launch(world, {.blocks = 1, .threads = 1}, mark{}, world.context(), where.data());
  world.synchronize();
  int seen = 0;
  pgas::get(world, &seen, where.data(), 1, world.my_pe());
  std::printf("%d\n", seen);
  return seen == 42 ? 0 : 1;
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
