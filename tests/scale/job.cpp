// A job for measure.py. It joins, allocates, calls barriers and leaves. With an argument, one PE is killed, and the
// other PEs report the number of this PE.
//     job [PE that is killed, or -1 [PEs of a pretended host]]
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "pgas/pgas.hpp"

namespace {

/// Milliseconds since 1970, comparable with the times of other processes of the machine.
double now() {
  return std::chrono::duration<double, std::milli>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// The private memory of this process, in KiB.
long private_memory() {
  std::ifstream about("/proc/self/smaps_rollup");
  long sum = 0;
  for (std::string line; std::getline(about, line);)
    if (line.starts_with("Private_")) sum += std::strtol(line.c_str() + line.find(':') + 1, nullptr, 10);
  return sum;
}

}  // namespace

int main(int count, char** words) try {
  const int victim = count > 1 ? std::atoi(words[1]) : -1;
  if (const char* const rank = std::getenv("PGAS_RANK"); rank != nullptr && count > 2) {
    ::setenv("PGAS_TEST_HOST", ("host" + std::to_string(std::atoi(rank) / std::atoi(words[2]))).c_str(), 1);
    ::setenv("PGAS_MEM_HANDLE", "named", 1);  // one domain: the PEs of all pretended hosts share memory
  }
  pgas::world world = pgas::world::join();
  world.barrier_all();
  const double joined = now();
  const auto memory = world.allocate<int>(1 << 20);
  const double allocated = now();
  world.barrier_all();
  const double begin = now();
  world.barrier_all();
  const double met = now();
  if (victim >= 0) {
    if (world.my_pe() == victim) {
      std::printf("killed %.3f\n", now());
      std::fflush(stdout);
      ::raise(SIGKILL);
    }
    try {
      world.barrier_all();
    } catch (const pgas::error& failed) {
      std::printf("named %d %.3f\n", failed.pe(), now());
      std::fflush(stdout);
    }
    std::_Exit(0);
  }
  if (world.my_pe() == 0 || world.my_pe() == world.n_pes() - 1)
    std::printf("memory of PE %d: %ld\n", world.my_pe(), private_memory());
  world.barrier_all();
  if (world.my_pe() == 0)
    std::printf("joined %.3f allocated %.3f barrier %.3f leaving %.3f\n", joined, allocated - joined, met - begin,
                now());
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
