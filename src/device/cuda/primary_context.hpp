/// @file
/// Primary contexts of GPUs, for objects that are shared without a world.
#pragma once

#include <mutex>
#include <set>
#include <utility>

#include "device/cuda/context_scope.hpp"

namespace pgas::detail::cuda {

/// Retains a GPU's primary context, which the CUDA runtime of the program also uses. Move-only.
///
/// The context stays until the process ends, as with the CUDA runtime. Otherwise a program without the CUDA runtime
/// would create and destroy the context each time it opens and closes the memory of a ticket.
class primary_context {
 public:
  /// *Errors* device_unavailable.
  explicit primary_context(int ordinal) : ordinal_(ordinal) {
    check(driver().primary_retain(&context_, ordinal), "cuDevicePrimaryCtxRetain", code::device_unavailable);
    retain_until_exit(ordinal);
  }
  primary_context(primary_context&& other) noexcept
      : ordinal_(other.ordinal_), context_(std::exchange(other.context_, nullptr)) {}
  primary_context& operator=(primary_context&&) = delete;
  ~primary_context() {
    if (context_ != nullptr) static_cast<void>(driver().primary_release(ordinal_));
  }
  [[nodiscard]] CUcontext get() const noexcept { return context_; }
  [[nodiscard]] int ordinal() const noexcept { return ordinal_; }

 private:
  /// Retains the context a second time, at the first call for this GPU.
  static void retain_until_exit(int ordinal) {
    // Never destroyed: tickets can be released while the process exits.
    static auto& mutex = *new std::mutex;
    static auto& retained = *new std::set<int>;
    const std::lock_guard lock(mutex);
    CUcontext same = nullptr;
    if (!retained.contains(ordinal) && driver().primary_retain(&same, ordinal) == CUDA_SUCCESS)
      retained.insert(ordinal);
  }

  int ordinal_;
  CUcontext context_ = nullptr;
};

}  // namespace pgas::detail::cuda
