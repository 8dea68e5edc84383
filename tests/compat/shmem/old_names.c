/* A program for OpenSHMEM before 1.2: old header and old names. Calls of start_pes are not counted, and a program need
 * not call a finalize function. */
#include <mpp/shmem.h>
#include <stdio.h>

static long from_left;

int main(void) {
  int me, n, *numbers, *more, initialized = 1;
  start_pes(0);
  start_pes(0);
  me = _my_pe();
  n = _num_pes();
  numbers = (int*)shmalloc(16 * sizeof(int));
  numbers[0] = me;
  more = (int*)shmemalign(64, 64);
  numbers = (int*)shrealloc(numbers, 1000 * sizeof(int));
  shmem_barrier_all();
  shmem_long_p(&from_left, me + 1, (me + 1) % n);
  shmem_long_wait(&from_left, 0);
  if (numbers[0] != me || from_left != (me + n - 1) % n + 1 || (size_t)more % 64 != 0) return 1;
  if (_SHMEM_CMP_EQ != SHMEM_CMP_EQ || _SHMEM_SYNC_VALUE != SHMEM_SYNC_VALUE) return 2;
  shfree(more);
  shfree(numbers);
  if (me % 2 == 0) return 0; /* these PEs are finalized at exit */
  shmem_finalize();
  shmem_query_initialized(&initialized);
  return initialized;
}
