/* Global and static variables as symmetric memory, of the program and of a library; they keep their values. */
#include <stdint.h>

#include "check.h"

long* library_variable(void);
void library_put(long value, int pe);
extern long library_array[1000];

int initialised = 41;
static double zeroed[3];
static char large[3 << 20];
const char* relocated = "text";
static int counter_before_init;
static long lock;
static uint64_t signal_word;
FILE** standard_output = &stdout;

int main(void) {
  static short in_function[5] = {1, 2, 3, 4, 5};
  int me, n, right, left, i, value, *there;
  int on_stack = 0;
  large[100] = 'a';
  large[sizeof large - 1] = 'z';
  for (i = 0; i < 7; ++i) ++counter_before_init;
  shmem_init();
  me = shmem_my_pe();
  n = shmem_n_pes();
  right = (me + 1) % n;
  left = (me + n - 1) % n;
  CHECK(initialised == 41 && counter_before_init == 7 && large[100] == 'a' && large[sizeof large - 1] == 'z');
  CHECK(strcmp(relocated, "text") == 0 && *library_variable() == 5 && *standard_output == stdout);
  CHECK(in_function[4] == 5);

  shmem_barrier_all();
  value = 100 + me;
  shmem_int_p(&initialised, value, right);
  zeroed[0] = 0.5;
  shmem_double_p(&zeroed[1], me, right);
  shmem_putmem(large + (1 << 20), large, 101, right);
  shmem_short_p(&in_function[2], (short)me, right);
  library_put(me + 1000, right);
  shmem_long_p(&library_array[999], me + 2000, right);
  shmem_barrier_all();
  CHECK(initialised == 100 + left && zeroed[0] == 0.5 && zeroed[1] == left && zeroed[2] == 0);
  CHECK(large[(1 << 20) + 100] == 'a' && in_function[2] == (short)left && in_function[3] == 4);
  CHECK(*library_variable() == left + 1000 && library_array[999] == left + 2000);
  CHECK(shmem_int_g(&initialised, right) == 100 + me);

  /* Operations see plain stores, and plain loads see operations. */
  CHECK(shmem_ptr(&initialised, me) == &initialised);
  there = (int*)shmem_ptr(&initialised, right);
  CHECK(there != NULL && *there == 100 + me);
  shmem_barrier_all();
  *there = 7;
  shmem_barrier_all();
  CHECK(initialised == 7 && shmem_int_g(&initialised, me) == 7);
  CHECK(shmem_addr_accessible(&initialised, right) && shmem_addr_accessible(library_array, right));
  CHECK(!shmem_addr_accessible(&on_stack, right) && shmem_ptr(&on_stack, right) == NULL);

  /* Locks, signals, collectives on static words. */
  for (i = 0; i < 20; ++i) {
    shmem_set_lock(&lock);
    shmem_int_p(&counter_before_init, shmem_int_g(&counter_before_init, 0) + 1, 0);
    shmem_quiet();
    shmem_clear_lock(&lock);
  }
  shmem_barrier_all();
  CHECK(me != 0 || counter_before_init == 7 + 20 * n);
  shmem_putmem_signal(large, "hello", 6, &signal_word, 9, SHMEM_SIGNAL_SET, right);
  CHECK(shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 9) == 9 && strcmp(large, "hello") == 0);
  in_function[0] = (short)(me + 1);
  CHECK(shmem_short_sum_reduce(SHMEM_TEAM_WORLD, &in_function[1], &in_function[0], 1) == 0);
  CHECK(in_function[1] == n * (n + 1) / 2);
  shmem_barrier_all();
  shmem_finalize();

  /* The variables keep their values, and are symmetric again in the next world. */
  CHECK(initialised == 7 && strcmp(large, "hello") == 0);
  initialised = me;
  shmem_init();
  shmem_barrier_all();
  CHECK(shmem_int_g(&initialised, right) == right);
  shmem_barrier_all();
  shmem_finalize();
  return failures;
}
