/// @file
/// Primary contexts of GPUs, for objects that are shared without a world.
#pragma once

#include <utility>

#include "device/cuda/context_scope.hpp"

namespace pgas::detail::cuda {

/// Retains a GPU's primary context, which the CUDA runtime of the program also uses. Move-only.
class primary_context {
 public:
  /// *Errors* device_unavailable.
  explicit primary_context(int ordinal) : ordinal_(ordinal) {
    check(driver().primary_retain(&context_, ordinal), "cuDevicePrimaryCtxRetain", code::device_unavailable);
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
  int ordinal_;
  CUcontext context_ = nullptr;
};

}  // namespace pgas::detail::cuda
