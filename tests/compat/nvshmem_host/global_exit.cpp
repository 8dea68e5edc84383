// global_exit MODE STATUS: the last PE ends all, while the others wait in a barrier, or compute without further calls.
#include <nvshmem.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

int main(int, char** argv) {
  nvshmem_init();
  nvshmem_free(nvshmem_malloc(8));
  if (nvshmem_my_pe() == nvshmem_n_pes() - 1) nvshmem_global_exit(std::atoi(argv[2]));
  if (std::strcmp(argv[1], "barrier") == 0) nvshmem_barrier_all();
  for (;;) pause();
}
