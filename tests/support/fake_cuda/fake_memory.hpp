/// @file
/// The memory of the fake driver: files without names, mapped like the physical memory of a GPU.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <map>
#include <mutex>

namespace fake_cuda {

/// All memory that this process has made, imported or mapped. *Callers* any thread.
class memory {
 public:
  [[nodiscard]] CUresult create(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                                const CUmemAllocationProp* what);
  [[nodiscard]] CUresult release(CUmemGenericAllocationHandle handle);
  [[nodiscard]] CUresult export_descriptor(void* descriptor, CUmemGenericAllocationHandle handle);
  [[nodiscard]] CUresult import_descriptor(CUmemGenericAllocationHandle* handle, int descriptor);
  [[nodiscard]] CUresult retain(CUmemGenericAllocationHandle* handle, void* address);
  [[nodiscard]] CUresult properties(CUmemAllocationProp* what, CUmemGenericAllocationHandle handle);

  [[nodiscard]] static CUresult reserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment,
                                        CUdeviceptr hint);
  [[nodiscard]] static CUresult free_reservation(CUdeviceptr address, std::size_t bytes);
  [[nodiscard]] CUresult map(CUdeviceptr address, std::size_t bytes, CUmemGenericAllocationHandle handle);
  [[nodiscard]] static CUresult allow(CUdeviceptr address, std::size_t bytes, bool writes);
  [[nodiscard]] CUresult unmap(CUdeviceptr address, std::size_t bytes);

  /// Allocates memory of the GPU or of the host, and maps it at a new address.
  [[nodiscard]] CUresult allocate(CUdeviceptr* address, std::size_t bytes, CUmemorytype type);
  [[nodiscard]] CUresult free(CUdeviceptr address);
  /// Registers host memory of the program, so that kernels can access the memory.
  [[nodiscard]] CUresult add_host(void* address, std::size_t bytes);
  [[nodiscard]] CUresult remove_host(void* address);

  [[nodiscard]] CUresult export_block(CUipcMemHandle* handle, CUdeviceptr address);
  [[nodiscard]] CUresult open_block(CUdeviceptr* address, const CUipcMemHandle& handle);

  [[nodiscard]] CUresult range(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address);
  /// The type of the memory at an address; 0: not memory of CUDA.
  [[nodiscard]] unsigned type_at(CUdeviceptr address);

 private:
  struct physical {
    int descriptor = -1;
    std::size_t bytes = 0;
    int users = 0;  ///< handles and mappings
    CUmemAllocationProp what{};
  };
  struct block {
    std::size_t bytes = 0;
    CUmemorytype type = CU_MEMORYTYPE_DEVICE;
    CUmemGenericAllocationHandle handle = 0;  ///< 0: host memory of the program
  };
  CUmemGenericAllocationHandle add(int descriptor, std::size_t bytes, const CUmemAllocationProp& what);
  void drop(CUmemGenericAllocationHandle handle);
  [[nodiscard]] std::map<CUdeviceptr, block>::iterator block_at(CUdeviceptr address);

  std::mutex mutex_;
  CUmemGenericAllocationHandle last_ = 0;
  std::map<CUmemGenericAllocationHandle, physical> physical_;
  std::map<CUdeviceptr, block> blocks_;
};

}  // namespace fake_cuda
