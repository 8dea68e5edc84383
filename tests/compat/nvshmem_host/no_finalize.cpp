// no_finalize STATUS: PEs end without nvshmem_finalize(). With status 0 all PEs end one after another. Otherwise only
// PE 0 ends, while the others wait for it.
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
