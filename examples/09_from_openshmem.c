/* Heat in a rod, written for OpenSHMEM and compiled here without a change. Each PE has a piece of the rod, and beside
   it
 * copies of its neighbours' end points. The arrays are static, so they are symmetric. The end points are sent with a
 * signal, and a reduction adds up the heat of all PEs.
 *
 *   pgas-cc 09_from_openshmem.c -o heat -lm && pgasrun -n 4 ./heat */
#include <math.h>
#include <shmem.h>
#include <stdio.h>

#define POINTS 64 /* of the whole rod, on all PEs */
#define STEPS 200

static double rod[2][POINTS + 2]; /* this step and the next; each with the neighbours' end points */
static uint64_t arrived[2];       /* steps whose end point has arrived from the left, and from the right */
static double heat, total;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  const int points = POINTS / n;
  for (int i = 1; i <= points; ++i) rod[0][i] = me == 0 && i == 1 ? 100.0 : 0.0;
  shmem_barrier_all();

  for (int step = 0; step < STEPS; ++step) {
    double *now = rod[step % 2], *next = rod[1 - step % 2];
    /* My first point is the right end point for the left neighbour. My last point is the left end point for the right
       one. */
    if (me > 0) shmem_double_put_signal(&now[points + 1], &now[1], 1, &arrived[1], 1, SHMEM_SIGNAL_ADD, me - 1);
    if (me < n - 1) shmem_double_put_signal(&now[0], &now[points], 1, &arrived[0], 1, SHMEM_SIGNAL_ADD, me + 1);
    if (me > 0) shmem_signal_wait_until(&arrived[0], SHMEM_CMP_GE, (uint64_t)step + 1);
    if (me < n - 1) shmem_signal_wait_until(&arrived[1], SHMEM_CMP_GE, (uint64_t)step + 1);
    if (me == 0) now[0] = now[1]; /* no heat leaves at the ends */
    if (me == n - 1) now[points + 1] = now[points];
    for (int i = 1; i <= points; ++i) next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
  }

  for (int i = 1; i <= points; ++i) heat += rod[STEPS % 2][i];
  shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &total, &heat, 1);
  if (me == 0) {
    printf("heat in the rod after %d steps: %.6f, at its start %.4f\n", STEPS, total, rod[STEPS % 2][1]);
    fflush(stdout);
  }
  shmem_barrier_all();

  for (int turn = 0; turn < n; ++turn) { /* PEs print one after the other */
    if (turn == me) {
      printf("PE %d of %d: %.4f to %.4f\n", me, n, rod[STEPS % 2][1], rod[STEPS % 2][points]);
      fflush(stdout);
    }
    shmem_barrier_all();
  }
  shmem_finalize();
  return fabs(total - 100.0) < 1e-9 ? 0 : 1;
}
