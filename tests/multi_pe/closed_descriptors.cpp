// A program without standard input, output and error, like a daemon. No descriptor of the library may get one of the
// numbers 0 to 2, because printf would write to a descriptor with number 1. The exit status is the result, because
// there is no other output.
//     closed_descriptors before | after      closes the descriptors before it joins, or afterwards
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

void close_standard() {
  for (int fd = 0; fd <= 2; ++fd) close(fd);
}

/// Whether `fd` is closed or refers to /dev/null. The library may leave it in these two states.
bool harmless(int fd) {
  std::error_code none;
  const std::string at = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), none).string();
  return none || at == "/dev/null";
}

bool all_harmless() { return harmless(0) && harmless(1) && harmless(2); }

}  // namespace

int main(int argc, char** argv) {
  const bool before = argc > 1 && std::string(argv[1]) == "before";
  if (before) close_standard();
  pgas::world world = pgas::world::join();
  if (!before) close_standard();
  const int next = (world.my_pe() + 1) % world.n_pes();
  // Larger than the first segment of the heap, so that there are new segments with new descriptors.
  constexpr std::size_t n = std::size_t{96} << 20;
  auto memory = world.allocate<char>(n);
  auto words = world.allocate<std::uint64_t>(1, pgas::initialize::zero);
  pgas::stream queue(world);
  pgas::p(world, words.data(), std::uint64_t{7}, next);
  const bool clean = all_harmless();

  std::fill(memory.data(), memory.data() + n, 'x');
  for (int i = 0; i < 100'000; ++i) std::printf("this must not appear in anybody's memory\n");
  std::fprintf(stderr, "nor this\n");
  std::fflush(nullptr);
  world.barrier_all();
  const bool untouched = std::all_of(memory.data(), memory.data() + n, [](char c) { return c == 'x'; });
  const bool arrived = *words.data() == 7;
  world.barrier_all();
  return !clean ? 11 : !untouched ? 12 : !arrived ? 13 : 0;
}
