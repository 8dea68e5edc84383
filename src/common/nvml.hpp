/// @file
/// NVIDIA's management library (NVML), which reports properties of GPUs that CUDA does not report. It is part of the
/// driver, is loaded at run time, and is optional. Not every toolkit has its header, so callers declare the types of
/// its functions.
#pragma once

#include <dlfcn.h>

#include <string>

namespace pgas::detail {

/// *Callers* any thread.
class nvml {
 public:
  using gpu = struct nvmlDevice_st*;
  static constexpr int success = 0;

  nvml() noexcept : handle_(::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    const auto start = function<int()>("nvmlInit_v2");
    find_ = function<int(const char*, gpu*)>("nvmlDeviceGetHandleByUUID");
    started_ = start != nullptr && find_ != nullptr && start() == success;
  }
  ~nvml() {
    if (const auto stop = started_ ? function<int()>("nvmlShutdown") : nullptr) static_cast<void>(stop());
    // dlclose() is not called, because destructors of the library may run after dlclose() has unloaded it.
  }
  nvml(const nvml&) = delete;
  nvml& operator=(const nvml&) = delete;

  /// Whether the library is present and works.
  [[nodiscard]] explicit operator bool() const noexcept { return started_; }
  /// The handle of a GPU; null if NVML does not know the GPU. @param uuid "GPU-0123...", as pe_info::device_uuid
  [[nodiscard]] gpu find(const std::string& uuid) const noexcept {
    gpu found = nullptr;
    return started_ && find_(uuid.c_str(), &found) == success ? found : nullptr;
  }
  /// A function of the library; null if this version has no function of that name.
  template <class Function>
  [[nodiscard]] Function* function(const char* name) const noexcept {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(handle_, name));
  }

 private:
  void* const handle_;
  bool started_ = false;
  int (*find_)(const char*, gpu*) = nullptr;
};

}  // namespace pgas::detail
