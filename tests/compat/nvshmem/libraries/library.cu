// A library with kernels that call NVSHMEM. It is compiled as several independent libraries, and as part of the
// program. LIBRARY_NAME is its only function. All libraries intentionally have the same internal names.
#include <nvshmem.h>
#include <nvshmemx.h>

#include "libraries.hpp"

namespace {

__global__ void step(int* cell, int add, nvshmem_team_t team) {
  const int right = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
  if (threadIdx.x == 0) nvshmem_int_atomic_add(cell, add, right);
  nvshmemx_barrier_all_block();
  if (threadIdx.x == 0) nvshmem_int_atomic_add(cell, 100 * nvshmem_team_n_pes(team), nvshmem_my_pe());
  second_unit(cell);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int LIBRARY_NAME(nvshmem_team_t team) {
  auto* const cell = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  if (cell == nullptr) return -1;
  step<<<1, 64>>>(cell, LIBRARY_VALUE, team);
  nvshmemx_barrier_all_on_stream(nullptr);
  int value = 0;
  const cudaError_t status = cudaMemcpy(&value, cell, sizeof value, cudaMemcpyDeviceToHost);
  nvshmem_free(cell);
  return status == cudaSuccess ? value : -1;
}
