// global_exit MODE STATUS: the last PE ends all PEs. The other PEs wait in a barrier, compute without further calls, or
// read their input, which keeps a stream locked.
#include <nvshmem.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int, char** argv) {
  nvshmem_init();
  nvshmem_free(nvshmem_malloc(8));
  if (nvshmem_my_pe() == nvshmem_n_pes() - 1) nvshmem_global_exit(std::atoi(argv[2]));
  if (std::strcmp(argv[1], "barrier") == 0) nvshmem_barrier_all();
  int ends[2];
  if (std::strcmp(argv[1], "read") == 0 && pipe(ends) == 0 && dup2(ends[0], STDIN_FILENO) >= 0) std::getchar();
  for (;;) pause();
}
