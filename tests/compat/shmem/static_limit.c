/* More static data than the file size limit allows for shared memory, though the heap fits. */
#include <shmem.h>

static char large[64 << 20];

int main(void) {
  large[0] = 1;
  shmem_init();
  shmem_finalize();
  return 0;
}
