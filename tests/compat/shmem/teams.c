/* Teams and contexts: numbers, splits, operations that take a team's numbers, threads with their own contexts. */
#include <pthread.h>
#include <stdint.h>

#include "check.h"

static int target[4];
static long counter;
static int me, n;

static void* count(void* unused) {
  shmem_ctx_t own;
  int i;
  (void)unused;
  if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &own) != 0) return &failures;
  for (i = 0; i < 100; ++i) shmem_ctx_long_atomic_inc(own, &counter, i % n);
  shmem_ctx_quiet(own);
  shmem_ctx_destroy(own);
  return NULL;
}

static void splits(void) {
  shmem_team_t evens = SHMEM_TEAM_WORLD, row, column, none;
  shmem_team_config_t config = {2}, asked = {0};
  shmem_ctx_t ctx, of_world;
  int size;
  CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, &config, SHMEM_TEAM_NUM_CONTEXTS, &evens) == 0);
  CHECK((evens != SHMEM_TEAM_INVALID) == (me % 2 == 0));
  CHECK(shmem_team_my_pe(evens) == (me % 2 == 0 ? me / 2 : -1));
  if (evens != SHMEM_TEAM_INVALID) {
    size = shmem_team_n_pes(evens);
    CHECK(size == (n + 1) / 2 && shmem_team_translate_pe(evens, size - 1, SHMEM_TEAM_WORLD) == 2 * (size - 1));
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 2 * (size - 1), evens) == size - 1);
    CHECK(n < 2 || shmem_team_translate_pe(SHMEM_TEAM_WORLD, 1, evens) == -1);
    CHECK(shmem_team_translate_pe(evens, size, SHMEM_TEAM_WORLD) == -1);
    CHECK(shmem_team_get_config(evens, SHMEM_TEAM_NUM_CONTEXTS, &asked) == 0 && asked.num_contexts == 2);
    CHECK(shmem_team_create_ctx(evens, SHMEM_CTX_SERIALIZED, &ctx) == 0);
    CHECK(shmem_ctx_get_team(ctx, &none) == 0 && none == evens);
    /* PE numbers of the team: the next even PE. */
    shmem_ctx_int_p(ctx, &target[0], me + 10, (me / 2 + 1) % size);
    shmem_ctx_fence(ctx);
    shmem_ctx_quiet(ctx);
    CHECK(shmem_team_sync(evens) == 0);
    CHECK(target[0] == (me / 2 + size - 1) % size * 2 + 10);
    CHECK(shmem_team_ptr(evens, target, size - 1) == shmem_ptr(target, 2 * (size - 1)));
    CHECK(shmem_team_ptr(evens, target, size) == NULL);
    shmem_ctx_destroy(ctx);
    CHECK(shmem_team_create_ctx(evens, 0, &ctx) == 0); /* destroyed with the team */
    shmem_team_destroy(evens);
  }
  CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &row, NULL, 0, &column) == 0);
  CHECK(shmem_team_my_pe(row) == me % 2 && shmem_team_my_pe(column) == me / 2);
  CHECK(shmem_team_n_pes(row) == (me / 2 * 2 + 1 < n ? 2 : 1));
  target[1] = me;
  CHECK(shmem_int_sum_reduce(column, &target[2], &target[1], 1) == 0);
  shmem_team_destroy(row);
  shmem_team_destroy(column);

  CHECK(shmem_team_n_pes(SHMEM_TEAM_SHARED) == n && shmem_team_my_pe(SHMEM_TEAM_NODE) == me);
  CHECK(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1 && shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1);
  CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, target, 0) == NULL);
  shmem_team_destroy(SHMEM_TEAM_INVALID);
  shmem_ctx_destroy(SHMEM_CTX_INVALID);
  shmem_ctx_quiet(SHMEM_CTX_INVALID);
  CHECK(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &none) == 0 && none == SHMEM_TEAM_WORLD);

  /* Sessions are hints. */
  CHECK(shmem_ctx_create(SHMEM_CTX_NOSTORE, &of_world) == 0);
  {
    const shmem_ctx_session_config_t hint = {1000};
    const int everyone = (me + 1) % n;
    shmem_ctx_session_start(of_world, SHMEM_CTX_SESSION_BATCH, &hint, SHMEM_CTX_SESSION_TOTAL_OPS);
    shmem_ctx_int_put_nbi(of_world, &target[3], &me, 1, everyone);
    shmem_ctx_session_stop(of_world);
    shmem_ctx_pe_quiet(of_world, &everyone, 1);
    CHECK(shmem_int_g(&target[3], everyone) == me);
  }
  shmem_ctx_destroy(of_world);
}

int main(void) {
  pthread_t threads[3];
  int i;
  void* failed;
  shmem_init();
  me = shmem_my_pe();
  n = shmem_n_pes();
  for (i = 0; i < 3; ++i) splits();
  shmem_barrier_all();
  for (i = 0; i < 3; ++i) CHECK(pthread_create(&threads[i], NULL, count, NULL) == 0);
  for (i = 0; i < 3; ++i) CHECK(pthread_join(threads[i], &failed) == 0 && failed == NULL);
  shmem_barrier_all();
  {
    long sum = 0;
    for (i = 0; i < n; ++i) sum += shmem_long_g(&counter, i);
    CHECK(sum == 300L * n);
  }
  shmem_barrier_all();
  shmem_finalize();
  return failures;
}
