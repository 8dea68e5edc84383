/* One PE ends all, with status 7: "waiting" PEs are in the library then, others never call it again. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  shmem_init();
  shmem_barrier_all();
  if (shmem_my_pe() == shmem_n_pes() - 1) {
    usleep(100000);
    shmem_global_exit(7);
  }
  if (argc > 1 && strcmp(argv[1], "waiting") == 0) shmem_barrier_all();
  for (;;) usleep(10000);
}
