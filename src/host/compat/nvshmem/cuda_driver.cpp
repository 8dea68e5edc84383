#include "host/compat/nvshmem/cuda_driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdint>

#include "pgas/error.hpp"

namespace pgas::compat {

namespace {

/// The name of a function of the driver. Converts to a pointer to the function; null if the driver does not have the
/// function.
struct driver_function {
  const char* name;
  template <class Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(address());
  }
  [[nodiscard]] void* address() const {
    static void* const library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    return library != nullptr ? ::dlsym(library, name) : nullptr;
  }
};

/// Functions of the driver API, declared without its headers: handles are pointers, a CUresult is an int.
struct driver_calls {
  int (*ctx_get_current)(void**) = driver_function{"cuCtxGetCurrent"};
  int (*ctx_get_device)(int*) = driver_function{"cuCtxGetDevice"};
  int (*find_in_module)(unsigned long long*, std::size_t*, void*,
                        const char*) = driver_function{"cuModuleGetGlobal_v2"};
  int (*find_in_library)(unsigned long long*, std::size_t*, void*, const char*) = driver_function{"cuLibraryGetGlobal"};
  int (*stream_create)(void**, unsigned) = driver_function{"cuStreamCreate"};
  int (*stream_synchronize)(void*) = driver_function{"cuStreamSynchronize"};
  int (*stream_destroy)(void*) = driver_function{"cuStreamDestroy_v2"};
  int (*stream_query)(void*) = driver_function{"cuStreamQuery"};
  int (*stream_is_capturing)(void*, int*) = driver_function{"cuStreamIsCapturing"};
  int (*exchange_capture_mode)(int*) = driver_function{"cuThreadExchangeStreamCaptureMode"};
  int (*copy_to_device)(unsigned long long, const void*, std::size_t, void*) = driver_function{"cuMemcpyHtoDAsync_v2"};
  int (*error_name)(int, const char**) = driver_function{"cuGetErrorName"};

  [[nodiscard]] bool present() const { return ctx_get_current != nullptr && ctx_get_device != nullptr; }
};

const driver_calls& driver() {
  static const driver_calls found;
  return found;
}

void check(int result, const char* what) {
  if (result == 0) return;
  const char* name = nullptr;
  if (driver().error_name != nullptr) static_cast<void>(driver().error_name(result, &name));
  throw error(code::device_failed, fmt::format("{}: {}", what, name != nullptr ? name : "unknown error"));
}

/// Whether an error of the driver means that a context is unusable. Other errors concern the call: for example, another
/// thread has begun a capture, or the driver is unloading.
[[nodiscard]] bool is_sticky(int status) {
  constexpr int illegal_address = 700;
  constexpr int timeout = 702;
  constexpr int assertion = 710;
  constexpr int first_of_hardware = 714;
  constexpr int last_of_hardware = 719;
  constexpr int unknown = 999;
  return status == illegal_address || status == timeout || status == assertion || status == unknown ||
         (status >= first_of_hardware && status <= last_of_hardware);
}

}  // namespace

int current_device() noexcept {
  const driver_calls& calls = driver();
  void* context = nullptr;
  int device = -1;
  if (!calls.present() || calls.ctx_get_current(&context) != 0 || context == nullptr) return -1;
  return calls.ctx_get_device(&device) == 0 ? device : -1;
}

bool default_stream_is_busy() {
  constexpr int relaxed_capture = 2;
  constexpr int not_ready = 600;
  const driver_calls& calls = driver();
  void* context = nullptr;
  if (!calls.present() || calls.stream_query == nullptr || calls.stream_is_capturing == nullptr ||
      calls.exchange_capture_mode == nullptr || calls.ctx_get_current(&context) != 0 || context == nullptr)
    return false;
  void* const legacy = reinterpret_cast<void*>(std::uintptr_t{1});
  int mode = relaxed_capture;  // in any other capture mode, a query invalidates captures of other threads
  int capture = 0;
  static_cast<void>(calls.exchange_capture_mode(&mode));
  const int state = calls.stream_is_capturing(legacy, &capture) == 0 ? calls.stream_query(legacy) : 0;
  static_cast<void>(calls.exchange_capture_mode(&mode));
  if (state == not_ready) return true;
  if (is_sticky(state))
    check(state,
          "a kernel or other work of this process has failed on its GPU, and the process can no longer use the GPU "
          "(compute-sanitizer finds the kernel)");
  return false;
}

void write_variable(const loaded_code& where, const char* name, const void* from, std::size_t bytes) {
  const driver_calls& calls = driver();
  if (!calls.present()) throw error(code::device_unavailable, "there is no CUDA driver on this machine");
  const auto find = where.is_library ? calls.find_in_library : calls.find_in_module;
  if (find == nullptr)
    throw error(code::device_unavailable,
                "this CUDA driver is too old to look into loaded code: update it, or link the code to the program");
  unsigned long long address = 0;
  std::size_t size = 0;
  if (find(&address, &size, where.handle, name) != 0)
    throw error(code::invalid_argument,
                fmt::format("the loaded code has no variable {}: it does not include nvshmem.h", name));
  if (size != bytes)
    throw error(
        code::version_mismatch,
        fmt::format("{} of the loaded code has {} bytes instead of {}: compile it with the headers of this library",
                    name, size, bytes));
  // The copy needs a stream of its own: the default stream would wait for running kernels, which can wait for this PE.
  void* stream = nullptr;
  constexpr unsigned non_blocking = 1;
  check(calls.stream_create(&stream, non_blocking), "cuStreamCreate");
  const int copied = calls.copy_to_device(address, from, bytes, stream);
  const int done = calls.stream_synchronize(stream);
  static_cast<void>(calls.stream_destroy(stream));
  check(copied, "cuMemcpyHtoDAsync");
  check(done, "cuStreamSynchronize");
}

}  // namespace pgas::compat
