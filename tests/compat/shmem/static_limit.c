/* More static data than the limit of files lets memory be that processes share, though the heap fits. */
#include <shmem.h>

static char large[64 << 20];

int main(void) {
  large[0] = 1;
  shmem_init();
  shmem_finalize();
  return 0;
}
