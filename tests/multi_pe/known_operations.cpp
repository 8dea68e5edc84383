// PEs that execute a known number of operations on one another, and then wait until another process has read their
// counters.
//     known_operations FILE  waits until the file exists
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "pgas/pgas.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    pgas::world world = pgas::world::join();
    auto words = world.allocate<std::uint64_t>(64, pgas::initialize::zero);
    auto signal = world.allocate<pgas::signal_t>(1, pgas::initialize::zero);
    std::vector<std::uint64_t> here(64);
    for (int pe = 0; pe < world.n_pes(); ++pe) {
      for (int i = 0; i <= pe; ++i) pgas::put(world, words.data(), here.data(), 10, pe);
      for (int i = 0; i < 2; ++i) pgas::get(world, here.data(), words.data(), 5, pe);
      for (int i = 0; i < 5; ++i) pgas::atomic_inc(world, words.data() + 32, pe);
      pgas::signal_add(world, signal.data(), 1, pe);
    }
    for (int i = 0; i < 3; ++i) world.barrier_all();
    std::printf("ready %d %d\n", world.my_pe(), static_cast<int>(getpid()));
    std::fflush(stdout);
    while (access(argv[1], F_OK) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    world.leave();
  } catch (const pgas::error& failed) {
    std::printf("failed %s\n", failed.what());
    return 1;
  }
}
