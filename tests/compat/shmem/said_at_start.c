/* shmem_init_thread fails and prints the reason even if no log was requested. The error of a reduction that is too
 * large contains the size. */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static long double numbers[4];
static char large[64 << 20];

int main(int argc, char** argv) {
  int provided = 0;
  if (argc == 2 && strcmp(argv[1], "start") == 0) {
    const struct rlimit limit = {32 << 20, 32 << 20}; /* too little for the static data */
    large[0] = 1;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 3;
    return shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0 ? 0 : 4;
  }
  shmem_init();
  return shmem_longdouble_sum_reduce(SHMEM_TEAM_WORLD, numbers, numbers + 2, (size_t)1 << 60) != 0 ? 0 : 5;
}
