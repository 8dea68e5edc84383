/* Collectives of active sets: disjoint sets, and overlapping sets that are first used in different orders. */
#include "check.h"

static long sync_array[SHMEM_SYNC_SIZE];
static int work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static int source[8], dest[64];

static int member(int me, int start, int log_stride, int size) {
  return me >= start && (me - start) % (1 << log_stride) == 0 && (me - start) >> log_stride < size;
}

/* Adds up the members' numbers, and broadcasts the last member's number. Only the members call. */
static void use(int me, int start, int log_stride, int size) {
  int i, sum = 0;
  const int last = start + (size - 1) * (1 << log_stride);
  if (!member(me, start, log_stride, size)) return;
  for (i = 0; i < size; ++i) sum += start + i * (1 << log_stride) + 1;
  source[0] = me + 1;
  shmem_int_sum_to_all(dest, source, 1, start, log_stride, size, work, sync_array);
  CHECK(dest[0] == sum);
  shmem_barrier(start, log_stride, size, sync_array);
  dest[1] = -1;
  shmem_sync(start, log_stride, size, sync_array);
  shmem_broadcast32(&dest[1], source, 1, size - 1, start, log_stride, size, sync_array);
  CHECK(dest[1] == (me == last ? -1 : last + 1));
  shmem_fcollect32(&dest[2], source, 1, start, log_stride, size, sync_array);
  for (i = 0; i < size; ++i) CHECK(dest[2 + i] == start + i * (1 << log_stride) + 1);
  shmem_barrier(start, log_stride, size, sync_array);
}

int main(void) {
  int me, n, i, round;
  for (i = 0; i < SHMEM_SYNC_SIZE; ++i) sync_array[i] = SHMEM_SYNC_VALUE;
  shmem_init();
  me = shmem_my_pe();
  n = shmem_n_pes();
  for (round = 0; round < 3; ++round) {
    use(me, 0, 0, n);
    /* The even PEs and the odd PEs at the same time. */
    use(me, 0, 1, (n + 1) / 2);
    if (n > 1) use(me, 1, 1, n / 2);
    /* Sets of two neighbours: PE i is in the sets i - 1 and i. The odd sets are used first. */
    for (i = 1; i + 1 < n; i += 2) use(me, i, 0, 2);
    for (i = 0; i + 1 < n; i += 2) use(me, i, 0, 2);
    /* PEs outside the set read their own memory at the same time. */
    if (n > 2) {
      if (member(me, 0, 1, 2))
        use(me, 0, 1, 2);
      else
        CHECK(shmem_int_g(&source[0], me) == me + 1);
    }
    use(me, n - 1, 0, 1);
    use(me, 0, 5, 1);
  }
  shmem_barrier_all();
  for (i = 0; i < SHMEM_SYNC_SIZE; ++i) CHECK(sync_array[i] == SHMEM_SYNC_VALUE);
  shmem_finalize();
  return failures;
}
