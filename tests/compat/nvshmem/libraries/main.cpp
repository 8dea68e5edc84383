// Three pieces of device code in one process, and a fourth piece that is loaded late. Each piece has a copy of the
// state, and all copies are updated when teams are made and destroyed. This file is compiled by g++ only.
#include <dlfcn.h>
#include <nvshmem.h>

#include <cstdio>

#include "libraries.hpp"

namespace {

bool wrong(const char* name, int value, int wanted) {
  if (value == wanted) return false;
  std::printf("PE %d: %s gave %d, not %d\n", nvshmem_my_pe(), name, value, wanted);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  nvshmem_init();
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
  cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices);
  const int n = nvshmem_n_pes();
  bool failed = wrong("first", first_library(NVSHMEM_TEAM_WORLD), 1 + 100 * n);

  nvshmem_team_t pair = NVSHMEM_TEAM_INVALID, others = NVSHMEM_TEAM_INVALID;
  nvshmem_team_split_2d(NVSHMEM_TEAM_WORLD, n < 2 ? 1 : 2, nullptr, 0, &pair, nullptr, 0, &others);
  const int members = nvshmem_team_n_pes(pair);
  void* const late = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  auto* const third_library =
      late == nullptr ? nullptr : reinterpret_cast<int (*)(nvshmem_team_t)>(dlsym(late, "third_library"));
  if (third_library == nullptr) {
    std::printf("%s: %s\n", argv[1], dlerror());
    return 1;
  }
  for (int round = 0; round < 3; ++round) {
    failed |= wrong("first", first_library(pair), 1 + 100 * members);
    failed |= wrong("second", second_library(pair), 10002 + 100 * members);
    failed |= wrong("third", third_library(pair), 3 + 100 * members);
    failed |= wrong("program", program_itself(pair), 4 + 100 * members);
  }
  nvshmem_barrier_all();
  dlclose(late);
  failed |= wrong("first", first_library(pair), 1 + 100 * members);
  nvshmem_team_destroy(pair);
  nvshmem_finalize();
  return failed ? 1 : 0;
}
