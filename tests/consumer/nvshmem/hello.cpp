#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdio>

int main() {
  nvshmem_init();
  const int me = nvshmem_my_pe();
  const int n = nvshmem_n_pes();
  int* received = static_cast<int*>(nvshmem_malloc(sizeof(int)));
  nvshmem_int_p(received, me, (me + 1) % n);
  nvshmem_barrier_all();
  std::printf("%d received %d\n", me, nvshmem_int_g(received, me));
  nvshmem_free(received);
  nvshmem_finalize();
}
