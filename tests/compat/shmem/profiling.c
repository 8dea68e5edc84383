/* A profiler: replaces functions, and calls the library's functions by their profiling names. */
#include <pshmem.h>
#include <stdio.h>

static int puts_seen, barriers_seen;

void shmem_int_put(int* dest, const int* source, size_t nelems, int pe) {
  ++puts_seen;
  pshmem_int_put(dest, source, nelems, pe);
}

void shmem_barrier_all(void) {
  ++barriers_seen;
  pshmem_barrier_all();
}

static int target[3];

int main(void) {
  int me, n, left, ok;
  shmem_init();
  me = shmem_my_pe();
  n = shmem_n_pes();
  left = (me + n - 1) % n;
  shmem_barrier_all();
  shmem_int_put(&target[0], &me, 1, (me + 1) % n);
  shmem_put(&target[1], &me, 1, (me + 1) % n); /* the type-generic name selects the same function */
  pshmem_int_put(&target[2], &me, 1, (me + 1) % n);
  shmem_barrier_all();
  ok = target[0] == left && target[1] == left && target[2] == left && puts_seen == 2 && barriers_seen == 2;
  if (!ok) fprintf(stderr, "PE %d: %d puts and %d barriers seen\n", me, puts_seen, barriers_seen);
  shmem_finalize();
  return ok ? 0 : 1;
}
