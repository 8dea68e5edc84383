// A program and a library that have different copies of the C++ runtime. After the program has caught an error of the
// library, the library's copy of the runtime still counts an exception in flight, and the program's copy counts one
// exception too few. Objects must be destroyed as if no exception were in flight, on every thread, and an exception of
// the program must still end the world.
//     own_runtime caught | thrown
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "pgas/pgas.hpp"

namespace {

bool throws_and_is_caught(pgas::world& world) {
  try {
    pgas::p(world, static_cast<int*>(nullptr), 1, world.n_pes());
  } catch (const pgas::error&) {
    return true;
  }
  return false;
}

/// Every kind of object whose destruction is collective is destroyed after a caught error.
int caught(pgas::world& world) {
  bool right = throws_and_is_caught(world);
  {
    pgas::team half = world.team().split_strided(0, 1, world.n_pes());
    auto of_team = half.allocate<int>(16, pgas::initialize::zero);
    auto of_world = world.allocate<int>(16, pgas::initialize::zero);
    right = right && throws_and_is_caught(world);
  }
  {
    pgas::team other;
    other = world.team().split_strided(0, 1, world.n_pes());
    other = pgas::team();
    pgas::world inner = pgas::world::join();
    right = right && throws_and_is_caught(inner);
    std::thread([&] { inner.team().split_strided(0, 1, inner.n_pes()).destroy(); }).join();
    std::thread([&] { const pgas::team part = inner.team().split_strided(0, 1, inner.n_pes()); }).join();
  }
  world.barrier_all();
  world.check();
  return right ? 0 : 1;
}

/// PE 0 has caught an error. Later an exception unwinds the stack of PE 0 while PE 0 owns memory. The other PEs must
/// not wait for PE 0.
int thrown(pgas::world& world) {
  if (!throws_and_is_caught(world)) return 1;
  try {
    const auto memory = world.allocate<int>(16, pgas::initialize::zero);
    if (world.my_pe() == 0) throw std::runtime_error("the input file is broken");
    world.barrier_all();
  } catch (const std::runtime_error&) {
    std::printf("PE %d was unwound\n", world.my_pe());
    return 0;
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) try {
  pgas::world world = pgas::world::join();
  return argc > 1 && std::string_view(argv[1]) == "caught" ? caught(world) : thrown(world);
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
