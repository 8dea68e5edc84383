// A kernel of PE 0 uses an illegal address, and no PE queries the error. The next collective call ends the job with
// status 1 within a second. With "context", the program has a context that is not the primary one:
// initialization fails with an error that names the context.
#include <cuda.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

__global__ void use_illegal_address() { *reinterpret_cast<volatile int*>(std::uintptr_t{64}) = 1; }

/// The status of initialization with a context that the program created.
int init_in_own_context() {
  void* create = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (cudaGetDriverEntryPointByVersion("cuCtxCreate", &create, 11040, cudaEnableDefault, &found) != cudaSuccess)
    return 2;
  CUcontext own = nullptr;
  // cuCtxCreate as in CUDA 11.4. The parameters are a context, affinity parameters and their number, flags, and a
  // device.
  const auto make = reinterpret_cast<CUresult (*)(CUcontext*, void*, int, unsigned, CUdevice)>(create);
  if (make(&own, nullptr, 0, 0, 0) != CUDA_SUCCESS) return 3;
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  return nvshmemx_init_attr(0, &attributes) == NVSHMEMX_ERROR_GPU_NOT_SELECTED ? 0 : 4;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "context") == 0) return init_in_own_context();
  nvshmem_init();
  nvshmem_barrier_all();
  if (nvshmem_my_pe() == 0) use_illegal_address<<<1, 1>>>();
  nvshmem_barrier_all();
  nvshmem_finalize();
  std::printf("no error\n");
  return 0;
}
