#include "device/cuda/reachable_list.hpp"

#include <fmt/format.h>

namespace pgas::detail::cuda {

bool is_pageable(const void* memory) {
  // The driver reports no type for memory that no call of CUDA has allocated or registered.
  unsigned type = 0;
  return driver().pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(memory)) !=
             CUDA_SUCCESS ||
         type == 0;
}

bool is_reachable(const void* memory, bool pageable) {
  if (is_pageable(memory)) return pageable;
  const auto at = reinterpret_cast<CUdeviceptr>(memory);
  CUdeviceptr address = 0;
  return driver().pointer_attribute(&address, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at) == CUDA_SUCCESS && address == at;
}

reachable_list::reachable_list(const copy_list& list, CUstream stream) : stream_(stream), list_(list) {
  const copy_list::side& to = list.to_pages();
  const copy_list::side& from = list.from_pages();
  try {
    if (list.has_pages())
      list_ = list.with_arrays(nullptr, reachable(to.index, list.size() * to.index_bytes),
                               reachable(from.index, list.size() * from.index_bytes));
    else
      list_ = list.with_arrays(
          static_cast<const copy_block*>(reachable(list.blocks(), list.size() * sizeof(copy_block))), nullptr, nullptr);
  } catch (...) {
    free_copies();
    throw;
  }
}

reachable_list::~reachable_list() { free_copies(); }

const void* reachable_list::reachable(const void* array, std::size_t bytes) {
  if (array == nullptr || bytes == 0) return array;
  if (!is_pageable(array)) {
    if (is_reachable(array, false)) return array;
    throw error(
        code::invalid_argument,
        fmt::format("the array of a list of copies at {} is in memory that kernels of this GPU can't access: use "
                    "memory of this GPU or of the host",
                    array));
  }
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  check(driver().stream_is_capturing(stream_, &status), "querying whether a stream is being captured");
  if (status != CU_STREAM_CAPTURE_STATUS_NONE)
    throw error(
        code::capturing,
        fmt::format("the array of a list of copies at {} is in pageable host memory, and a CUDA graph can't read "
                    "it at each launch: use GPU memory, or pinned memory (cudaHostAlloc, cudaHostRegister)",
                    array));
  CUdeviceptr copy = 0;
  check(driver().alloc_async(&copy, bytes, stream_), "memory for the array of a list of copies (cuMemAllocAsync)",
        code::out_of_memory);
  copies_[n_copies_++] = copy;
  check(driver().copy_async(copy, reinterpret_cast<CUdeviceptr>(array), bytes, stream_),
        "copying the array of a list of copies to the GPU");
  return reinterpret_cast<const void*>(copy);
}

void reachable_list::free_copies() noexcept {
  for (std::size_t i = 0; i < n_copies_; ++i) static_cast<void>(driver().free_async(copies_[i], stream_));
}

}  // namespace pgas::detail::cuda
