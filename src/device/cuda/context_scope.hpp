/// @file
/// Scopes around calls of CUDA: scopes in which a context is current, and a scope in which no capture of a stream is
/// invalidated.
#pragma once

#include "device/cuda/driver.hpp"

namespace pgas::detail::cuda {

/// While this object exists, CUDA calls of this thread do not invalidate captures of other streams, regardless of the
/// mode of the capture. Without the object, a capture with CU_STREAM_CAPTURE_MODE_GLOBAL forbids cuMemAlloc and other
/// calls. Scopes may be nested.
class relaxed_capture_scope {
 public:
  relaxed_capture_scope() noexcept { static_cast<void>(driver().exchange_capture_mode(&mode_)); }
  ~relaxed_capture_scope() { static_cast<void>(driver().exchange_capture_mode(&mode_)); }
  relaxed_capture_scope(const relaxed_capture_scope&) = delete;
  relaxed_capture_scope& operator=(const relaxed_capture_scope&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// Makes a context current for a scope. If the context is already current, which is the usual case, the constructor
/// only compares. This keeps frequent short calls fast.
class in_context {
 public:
  explicit in_context(CUcontext context) {
    CUcontext now = nullptr;
    pushed_ = driver().ctx_current(&now) != CUDA_SUCCESS || now != context;
    if (pushed_) check(driver().ctx_push(context), "cuCtxPushCurrent");
  }
  ~in_context() {
    CUcontext ignored = nullptr;
    if (pushed_) static_cast<void>(driver().ctx_pop(&ignored));
  }
  in_context(const in_context&) = delete;
  in_context& operator=(const in_context&) = delete;

 private:
  bool pushed_ = false;
};

/// Like in_context, but for calls that must not invalidate captures.
class current_context {
 public:
  explicit current_context(CUcontext context) : in_context_(context) {}

 private:
  relaxed_capture_scope undisturbed_;
  in_context in_context_;
};

/// Makes a context current in a destructor. If that fails, no error is reported.
class quiet_context {
 public:
  explicit quiet_context(CUcontext context) noexcept
      : pushed_(context != nullptr && driver().ctx_push(context) == CUDA_SUCCESS) {}
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
