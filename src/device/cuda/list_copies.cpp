#include "device/list_copies.hpp"

#include <map>
#include <memory>
#include <mutex>

#include "device/cuda/gpu_properties.hpp"
#include "device/cuda/kernels/library_kernels.hpp"
#include "device/cuda/primary_context.hpp"
#include "device/cuda/reachable_list.hpp"

namespace pgas::detail {

namespace cuda {
namespace {

/// A GPU with the kernel of lists, for streams of the application.
class list_gpu {
 public:
  /// *Errors* device_unavailable.
  explicit list_gpu(int ordinal)
      : context_(ordinal), reaches_pageable_(has(ordinal, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS)) {
    const current_context current(context_.get());
    kernels_ = std::make_unique<library_kernels>(ordinal);
  }

  void copy(const copy_list& list, CUstream stream, unsigned most_blocks) const {
    const in_context current(context_.get());
    const auto reachable = [this](const void* memory) { return is_reachable(memory, reaches_pageable_); };
    if (is_for_copy_engines(list, reachable)) {
      for (std::size_t i = 0; i < list.size(); ++i)
        check(driver().copy_async(reinterpret_cast<CUdeviceptr>(list[i].to),
                                  reinterpret_cast<CUdeviceptr>(list[i].from), list[i].bytes, stream),
              "copying a block of a list");
      return;
    }
    const reachable_list arrays(list, stream, reaches_pageable_);
    list_request request;
    request.list = arrays.list();
    request.most_blocks = most_blocks;
    kernels_->list(request, stream);
  }

  /// The object of a GPU is made at the first use, and is never destroyed.
  static const list_gpu& get(int ordinal) {
    static auto& mutex = *new std::mutex;
    static auto& gpus = *new std::map<int, list_gpu>;
    const std::lock_guard lock(mutex);
    return gpus.try_emplace(ordinal, ordinal).first->second;
  }

 private:
  primary_context context_;
  bool reaches_pageable_;
  std::unique_ptr<library_kernels> kernels_;
};

}  // namespace
}  // namespace cuda

void copy_list_on_gpu(int ordinal, void* stream, const copy_list& list, unsigned most_blocks) {
  cuda::list_gpu::get(ordinal).copy(list, static_cast<CUstream>(stream), most_blocks);
}

}  // namespace pgas::detail
