#include "device/cuda/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace pgas::detail::cuda {

namespace {

std::string text_of(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

/// The driver's library, which is never unloaded.
class driver_library {
 public:
  /// *Errors* device_unavailable if there is no driver, or if it is older than oldest_driver.
  driver_library() {
    if (handle_ == nullptr)
      throw error(code::device_unavailable, "no CUDA driver on this machine (libcuda.so.1 could not be loaded)");
    const auto version_of = function<decltype(cuDriverGetVersion)>("cuDriverGetVersion");
    find_ = function<decltype(cuGetProcAddress_v2)>("cuGetProcAddress_v2");
    if (version_of != nullptr) static_cast<void>(version_of(&version_));
    if (version_ < oldest_driver || find_ == nullptr)
      throw error(code::device_unavailable,
                  fmt::format("the CUDA driver of this machine is for CUDA {}: install a driver for CUDA {} or newer",
                              text_of(version_), text_of(oldest_driver)));
  }
  [[nodiscard]] int version() const noexcept { return version_; }

  /// The function that the driver exports under exactly this name; null if the driver does not export the name.
  template <class Function>
  [[nodiscard]] Function* function(const char* name) const noexcept {
    return reinterpret_cast<Function*>(::dlsym(handle_, name));
  }
  /// The variant of a function in version `interface` of the driver's interface; null if the driver does not have the
  /// function.
  [[nodiscard]] void* find(const char* name, int interface) const noexcept {
    void* found = nullptr;
    const CUresult result = find_(name, &found, interface, CU_GET_PROC_ADDRESS_DEFAULT, nullptr);
    return result == CUDA_SUCCESS ? found : nullptr;
  }

 private:
  void* const handle_ = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  decltype(&cuGetProcAddress_v2) find_ = nullptr;
  int version_ = 0;
};

const driver_library& library() {
  static const driver_library loaded;
  return loaded;
}

/// The remedy if the driver refuses a call because of a capture; empty for other results.
std::string_view remedy_in_capture(CUresult result) {
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
    return ": the default stream waits for a stream that is being captured into a CUDA graph: use another stream "
           "(pgas::stream, cudaStreamNonBlocking), or make the call outside the capture";
  if (result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
    return ": an earlier call has invalidated the capture: end the capture, and repeat it without that call";
  if (result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
    return ": a stream is being captured into a CUDA graph: make the call before or after the capture";
  return {};
}

void check_by(const driver_api& api, CUresult result, std::string_view what, code kind) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  const char* text = nullptr;
  if (api.error_name(result, &name) != CUDA_SUCCESS || name == nullptr) name = "unknown error";
  if (api.error_string(result, &text) != CUDA_SUCCESS || text == nullptr) text = "no description";
  const std::string_view remedy = remedy_in_capture(result);
  throw error(remedy.empty() ? kind : code::capturing, fmt::format("{}: {} ({}){}", what, name, text, remedy));
}

}  // namespace

void* driver_function::address() const {
  void* const found = library().find(name, version);
  if (found == nullptr && !is_optional)
    throw error(
        code::device_unavailable,
        fmt::format("the CUDA driver has no {}: install a driver for CUDA {} or newer", name, text_of(version)));
  return found;
}

int driver_version() { return library().version(); }

const driver_api& driver() {
  static const driver_api api = [] {
    const driver_api found;
    const auto init = library().function<decltype(cuInit)>("cuInit");
    check_by(found, init != nullptr ? init(0) : CUDA_ERROR_NOT_FOUND, "looking for GPUs (cuInit)",
             code::device_unavailable);
    return found;
  }();
  return api;
}

void check(CUresult result, std::string_view what, code kind) {
  if (result != CUDA_SUCCESS) check_by(driver(), result, what, kind);
}

}  // namespace pgas::detail::cuda
