// no_finalize STATUS: PEs end one after another, without nvshmem_finalize(): with 0 all of them; else PE 0 alone, while
// the others wait for it.
#include <nvshmem.h>
#include <unistd.h>

#include <cstdlib>

int main(int, char** argv) {
  nvshmem_init();
  nvshmem_free(nvshmem_malloc(8));
  nvshmem_barrier_all();
  const int status = std::atoi(argv[1]);
  if (status != 0) {
    if (nvshmem_my_pe() == 0) return status;
    nvshmem_barrier_all();
  }
  usleep(static_cast<useconds_t>(nvshmem_my_pe()) * 200'000);
  return 0;
}
