/* Functions without types: setup, memory, order, signals, locks, caches. */
#include <stdint.h>
#include <unistd.h>

#include "check.h"

static long lock, value_under_lock;
static uint64_t words[3];
static long flags[2];
static short small_flag;

int main(void) {
  int me, n, right, major = 0, minor = 0, provided = 0, started = -1, i, all[64];
  char name[SHMEM_MAX_NAME_LEN];
  long *numbers, *same;
  char* aligned;
  shmem_query_initialized(&started);
  CHECK(started == 0);
  shmem_init();
  shmem_query_initialized(&started);
  shmem_query_thread(&provided);
  CHECK(started == 1 && provided == SHMEM_THREAD_MULTIPLE);
  me = shmem_my_pe();
  n = shmem_n_pes();
  right = (me + 1) % n;
  shmem_info_get_version(&major, &minor);
  shmem_info_get_name(name);
  CHECK(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION && strcmp(name, SHMEM_VENDOR_STRING) == 0);
  shmem_pcontrol(1, "anything");
  for (i = 0; i < n && i < 64; ++i) all[i] = i;
  CHECK(shmem_pe_accessible(n - 1) && !shmem_pe_accessible(n) && !shmem_pe_accessible(-1));

  numbers = (long*)shmem_calloc(100, sizeof(long));
  CHECK(numbers != NULL && numbers[0] == 0 && numbers[99] == 0);
  CHECK(shmem_addr_accessible(numbers, right) && shmem_ptr(numbers, me) == numbers &&
        shmem_ptr(numbers, right) != NULL);
  CHECK(shmem_ptr(numbers, n) == NULL);
  for (i = 0; i < 100; ++i) numbers[i] = i + 1000 * me;
  same = (long*)shmem_realloc(numbers, 100000 * sizeof(long));
  CHECK(same != NULL && same[0] == 1000 * me && same[99] == 99 + 1000 * me);
  for (i = 2; i < 28; ++i) {
    aligned = (char*)shmem_align((size_t)3 << i >> 1, 10); /* rounded up to 1 << (i + 1) */
    CHECK(aligned != NULL && (uintptr_t)aligned % ((uintptr_t)2 << i) == 0);
    CHECK(shmem_addr_accessible(aligned, right));
    aligned[9] = (char)(me + i);
    shmem_barrier_all();
    CHECK(shmem_char_g(aligned + 9, right) == (char)(right + i));
    shmem_free(aligned);
  }
  aligned = (char*)shmem_align(16 << 20, 20 << 20);
  CHECK(aligned != NULL && (uintptr_t)aligned % (16 << 20) == 0);
  numbers = (long*)shmem_malloc_with_hints(64, SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE);
  CHECK(numbers != NULL && (uintptr_t)numbers % 64 == 0);
  CHECK(shmem_malloc(0) == NULL && shmem_realloc(NULL, 0) == NULL);
  shmem_free(NULL);

  /* Allocations end with a barrier, and freeing begins with a barrier that completes pending operations. */
  {
    static int round_of[4], arrived;
    void* made[4];
    int round;
    for (round = 0; round < 4; ++round) {
      if (me == round % n) usleep(20000);
      round_of[round] = round + 1;
      made[round] = round == 0   ? shmem_malloc(8)
                    : round == 1 ? shmem_calloc(2, 4)
                    : round == 2 ? shmem_align(64, 64)
                                 : shmem_malloc_with_hints(8, 0);
      CHECK(made[round] != NULL && shmem_int_g(&round_of[round], round % n) == round + 1);
    }
    shmem_int_put_nbi(&arrived, &round_of[3], 1, right);
    for (round = 0; round < 4; ++round) shmem_free(made[round]);
    CHECK(arrived == 4);
  }

  shmem_barrier_all();
  shmem_long_put_nbi(same, &same[50], 1, right);
  shmem_fence();
  shmem_signal_set(&words[0], 5, right);
  shmem_signal_add(&words[1], 6, right);
  shmem_ctx_signal_set(SHMEM_CTX_DEFAULT, &words[2], 7, right);
  shmem_ctx_signal_add(SHMEM_CTX_DEFAULT, &words[2], 8, right);
  shmem_pe_quiet(all, (size_t)(n < 64 ? n : 64));
  shmem_quiet();
  CHECK(shmem_signal_wait_until(&words[2], SHMEM_CMP_GE, 15) == 15);
  CHECK(shmem_signal_fetch(&words[0]) == 5 && shmem_signal_fetch(&words[1]) == 6);
  shmem_sync_all();
  CHECK(same[0] == 50 + 1000L * ((me + n - 1) % n));
  shmem_barrier_all();

  for (i = 0; i < 30; ++i) {
    if (i % 3 == 0) {
      while (shmem_test_lock(&lock) != 0) {
      }
    } else {
      shmem_set_lock(&lock);
    }
    shmem_long_p(&value_under_lock, shmem_long_g(&value_under_lock, 0) + 1, 0);
    shmem_clear_lock(&lock);
  }
  shmem_barrier_all();
  CHECK(me != 0 || value_under_lock == 30L * n);

  /* The waits that OpenSHMEM 1.5 has removed. */
  shmem_long_p(&flags[0], 3, right);
  shmem_short_p(&small_flag, 3, right);
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
  (shmem_wait_until)(&flags[0], SHMEM_CMP_EQ, 3);
#else
  shmem_wait_until(&flags[0], SHMEM_CMP_EQ, 3);
#endif
  shmem_wait(&flags[0], 0);
  shmem_long_wait(&flags[0], 0);
  shmem_short_wait(&small_flag, 0);
  {
    static int one;
    static long long other;
    shmem_int_p(&one, 1, right);
    shmem_longlong_p(&other, 1, right);
    shmem_int_wait(&one, 0);
    shmem_longlong_wait(&other, 0);
  }
  shmem_set_cache_inv();
  shmem_set_cache_line_inv(flags);
  shmem_clear_cache_inv();
  shmem_clear_cache_line_inv(flags);
  shmem_udcflush();
  shmem_udcflush_line(flags);
  shmem_barrier_all();
  shmem_free(aligned);
  shmem_free(same);
  shmem_free(numbers);
  shmem_finalize();
  shmem_query_initialized(&started);
  CHECK(started == 0);
  return failures;
}
