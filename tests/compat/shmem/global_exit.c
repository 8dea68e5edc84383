/* MODE STATUS: one PE ends all with this status, while "waiting" PEs are in a call and others never call again. */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  shmem_init();
  shmem_barrier_all();
  if (shmem_my_pe() == shmem_n_pes() - 1) {
    usleep(100000);
    shmem_global_exit(atoi(argv[2]));
  }
  if (strcmp(argv[1], "waiting") == 0) shmem_barrier_all();
  for (;;) usleep(10000);
}
