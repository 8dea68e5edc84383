// Loads cubins as modules and as libraries, and initializes their device state.
//
// Usage: load CUBIN...
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdio>

namespace {

/// A function of the driver, looked up at run time, because programs are also built on machines without a driver.
template <class Function>
Function driver(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  if (cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result) != cudaSuccess) found = nullptr;
  if (found == nullptr) std::printf("the driver has no %s\n", name);
  return reinterpret_cast<Function>(found);
}

/// Runs the kernel. Afterwards every PE has its left neighbour's number.
bool greets(CUfunction kernel, int* cell) {
  const auto launch = driver<decltype(&cuLaunchKernel)>("cuLaunchKernel");
  void* arguments[] = {&cell};
  if (cudaMemset(cell, 0, sizeof *cell) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) return false;
  nvshmem_barrier_all();
  if (launch(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) != CUDA_SUCCESS) return false;
  int value = 0;
  if (cudaMemcpy(&value, cell, sizeof value, cudaMemcpyDeviceToHost) != cudaSuccess) return false;
  const int n = nvshmem_n_pes();
  return value == (nvshmem_my_pe() + n - 1) % n + 1;
}

bool as_module(const char* path, int* cell) {
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  if (driver<decltype(&cuModuleLoad)>("cuModuleLoad")(&module, path) != CUDA_SUCCESS) return false;
  bool right = driver<decltype(&cuModuleGetFunction)>("cuModuleGetFunction")(&kernel, module, "greet") == CUDA_SUCCESS;
  right = right && nvshmemx_cumodule_init(module) == 0 && greets(kernel, cell);
  right = nvshmemx_cumodule_finalize(module) == 0 && right;
  return driver<decltype(&cuModuleUnload)>("cuModuleUnload")(module) == CUDA_SUCCESS && right;
}

bool as_library(const char* path, int* cell) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  const auto load = driver<decltype(&cuLibraryLoadFromFile)>("cuLibraryLoadFromFile");
  if (load(&library, path, nullptr, nullptr, 0, nullptr, nullptr, 0) != CUDA_SUCCESS) return false;
  bool right = driver<decltype(&cuLibraryGetKernel)>("cuLibraryGetKernel")(&kernel, library, "greet") == CUDA_SUCCESS;
  right = right && nvshmemx_culibrary_init(library) == 0 && greets(reinterpret_cast<CUfunction>(kernel), cell);
  right = nvshmemx_culibrary_finalize(library) == 0 && right;
  return driver<decltype(&cuLibraryUnload)>("cuLibraryUnload")(library) == CUDA_SUCCESS && right;
}

}  // namespace

int main(int argc, char** argv) {
  nvshmem_init();
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
  cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices);
  auto* const cell = static_cast<int*>(nvshmem_malloc(sizeof(int)));
  bool failed = false;
  for (int i = 1; i < argc; ++i) {
    const bool module = as_module(argv[i], cell);
    const bool library = as_library(argv[i], cell);
    if (!module || !library)
      std::printf("PE %d: %s does not work as a %s\n", nvshmem_my_pe(), argv[i], module ? "library" : "module");
    failed = failed || !module || !library;
  }
  nvshmem_free(cell);
  nvshmem_finalize();
  return failed ? 1 : 0;
}
