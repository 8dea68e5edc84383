// Joins over OpenSHMEM. Both libraries are in one process, and each has its own world. Prints failures.
#include <nvshmem.h>
#include <shmem.h>

#include <cstdio>

int main() {
  shmem_init();
  const int rank = shmem_my_pe();
  const int size = shmem_n_pes();
  int wrong = 0;
  for (int round = 0; round < 2; ++round) {
    if (nvshmemx_init_attr(NVSHMEMX_INIT_WITH_SHMEM, nullptr) != 0) return 1;
    if (nvshmem_my_pe() != rank || nvshmem_n_pes() != size) ++wrong;
    int* const cell = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
    int* const other = static_cast<int*>(shmem_calloc(1, sizeof(int)));
    nvshmem_int_p(cell, 100 + rank, (rank + 1) % size);
    shmem_int_p(other, 200 + rank, (rank + 1) % size);
    nvshmem_barrier_all();
    shmem_barrier_all();
    const int left = (rank + size - 1) % size;
    if (nvshmem_int_g(cell, rank) != 100 + left || shmem_int_g(other, rank) != 200 + left) ++wrong;
    shmem_free(other);
    nvshmem_free(cell);
    nvshmem_finalize();
  }
  if (wrong != 0) std::fprintf(stderr, "%d things are wrong\n", wrong);
  shmem_finalize();
  return wrong == 0 ? 0 : 1;
}
