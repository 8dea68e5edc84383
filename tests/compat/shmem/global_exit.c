/* MODE STATUS: the last PE ends all PEs with this status. Meanwhile the other PEs are in a call ("waiting"), call the
   library no more ("computing"), have returned from main ("returned"), or are in shmem_finalize, as is the main thread
   of the last PE ("finalizing"). */
#include <pthread.h>
#include <shmem.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int status;

static void* end_all(void* unused) {
  usleep(200000);
  shmem_global_exit(status);
  return unused;
}

int main(int argc, char** argv) {
  int last;
  pthread_t thread;
  if (argc != 3) return 1;
  status = atoi(argv[2]);
  shmem_init();
  last = shmem_my_pe() == shmem_n_pes() - 1;
  shmem_barrier_all();
  if (strcmp(argv[1], "finalizing") == 0) {
    if (shmem_my_pe() == 0)
      for (;;) usleep(10000); /* keeps the other PEs in shmem_finalize */
    if (last && pthread_create(&thread, NULL, end_all, NULL) != 0) return 1;
    shmem_finalize();
  }
  if (last) end_all(NULL);
  if (strcmp(argv[1], "returned") == 0) return 0;
  if (strcmp(argv[1], "waiting") == 0) shmem_barrier_all();
  for (;;) usleep(10000);
}
