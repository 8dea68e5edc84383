// Two shared libraries with kernels in one process and one world, without a device link and without shared device
// state.
#include <cstdio>

#include "pgas/pgas.hpp"
#include "two_libraries.hpp"

int main() try {
  pgas::world world = pgas::world::join();
  bool right = true;
  for (int round = 0; round < 3; ++round) right = right && first_library(world) == 11 && second_library(world) == 22;
  world.barrier_all();
  if (!right) std::fprintf(stderr, "a library's kernel did not reach its neighbour\n");
  return right ? 0 : 1;
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
