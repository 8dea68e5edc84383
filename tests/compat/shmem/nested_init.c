/* shmem_finalize of an inner level is a barrier of all PEs; the outer level is still initialized after it. */
#include <unistd.h>

#include "check.h"

static int arrived;

int main(void) {
  int me, n, level, provided, initialized = 0;
  shmem_init();
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  shmem_init();
  me = shmem_my_pe();
  n = shmem_n_pes();
  for (level = 1; level <= 2; ++level) {
    shmem_barrier_all();
    if (me == 0) {
      usleep(200000);
      shmem_int_p(&arrived, level, n - 1);
    }
    shmem_finalize();
    CHECK(me != n - 1 || arrived == level);
    shmem_query_initialized(&initialized);
    CHECK(initialized);
  }
  shmem_finalize();
  shmem_query_initialized(&initialized);
  CHECK(!initialized);
  return failures;
}
