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

/// Makes a context current in a destructor. If that fails, no error is reported.
class quiet_context {
 public:
  explicit quiet_context(const primary_context& of) noexcept
      : pushed_(of.get() != nullptr && driver().ctx_push(of.get()) == CUDA_SUCCESS) {}
  ~quiet_context() {
    CUcontext ignored = nullptr;
    if (pushed_) static_cast<void>(driver().ctx_pop(&ignored));
  }
  quiet_context(const quiet_context&) = delete;
  quiet_context& operator=(const quiet_context&) = delete;
  [[nodiscard]] explicit operator bool() const noexcept { return pushed_; }

 private:
  relaxed_capture_scope undisturbed_;
  bool pushed_;
};

}  // namespace pgas::detail::cuda
