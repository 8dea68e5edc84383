#include "device/list_copies.hpp"

#include <map>
#include <memory>
#include <mutex>

#include "common/unforked_fd.hpp"
#include "device/cuda/kernels/library_kernels.hpp"
#include "device/cuda/primary_context.hpp"
#include "device/cuda/reachable_list.hpp"

namespace pgas::detail {

namespace cuda {
namespace {

/// A GPU, and the kernel that copies lists on streams of the application.
class list_gpu {
 public:
  /// *Errors* device_unavailable.
  explicit list_gpu(int ordinal) : context_(ordinal) {
    const current_context current(context_.get());
    kernels_ = std::make_unique<library_kernels>(ordinal);
  }

  void copy(const copy_list& list, CUstream stream, unsigned most_blocks) const {
    const in_context current(context_.get());
    // In a capture, reachable_list refuses pageable arrays.
    const bool captured = has_array(list) && is_captured(stream);
    if (!captured && is_for_copy_engines(list, [](const void* array) { return is_pageable(array); })) {
      for (std::size_t i = 0; i < list.size(); ++i)
        check(driver().copy_async(reinterpret_cast<CUdeviceptr>(list[i].to),
                                  reinterpret_cast<CUdeviceptr>(list[i].from), list[i].bytes, stream),
              "copying a block of a list");
      return;
    }
    const reachable_list arrays(list, stream);
    list_request request;
    request.list = arrays.list();
    request.most_blocks = most_blocks;
    kernels_->list(request, stream);
  }

 private:
  [[nodiscard]] static bool is_captured(CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    check(driver().stream_is_capturing(stream, &status), "querying whether a stream is being captured");
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
  }

  primary_context context_;
  std::unique_ptr<library_kernels> kernels_;
};

/// The GPUs whose streams this process has used.
struct known_gpus {
  std::mutex mutex;
  std::map<int, list_gpu> all;
};

const list_gpu& gpu_at(int ordinal) {
  known_gpus& known = of_this_process<known_gpus>();
  const std::lock_guard lock(known.mutex);
  return known.all.try_emplace(ordinal, ordinal).first->second;
}

}  // namespace
}  // namespace cuda

void copy_list_on_gpu(int ordinal, void* stream, const copy_list& list, unsigned most_blocks) {
  cuda::gpu_at(ordinal).copy(list, static_cast<CUstream>(stream), most_blocks);
}

}  // namespace pgas::detail
