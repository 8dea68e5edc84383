/* Memory is zero when the program first gets it: the library has left no data in it. */
#include "check.h"

static long variable; /* the library makes static data symmetric too */

int main(void) {
  const size_t bytes = 4 << 20;
  size_t i;
  int round;
  for (round = 0; round < 2; ++round) {
    unsigned char *first, *second;
    shmem_init();
    shmem_long_p(&variable, 1, 0);
    second = (unsigned char*)shmem_malloc(100);
    first = (unsigned char*)shmem_malloc(bytes);
    CHECK(first != NULL && second != NULL);
    for (i = 0; i < bytes && first[i] == 0; ++i) {
    }
    CHECK(i == bytes);
    for (i = 0; i < 100 && second[i] == 0; ++i) {
    }
    CHECK(i == 100);
    memset(first, 1, bytes);
    shmem_barrier_all();
    shmem_finalize();
  }
  return failures;
}
