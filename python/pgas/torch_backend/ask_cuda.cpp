#include "ask_cuda.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include "pgas/error.hpp"

namespace pgas::torch_backend {

void* current_stream(int device) {
  const c10::impl::VirtualGuardImpl cuda(c10::DeviceType::CUDA);
  const c10::Device gpu(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(device));
  return cuda.getStreamNativeHandle(cuda.getStream(gpu));
}

bool is_capturing(int device) {
  using function = int(void* stream, int* status);
  static auto* const ask = [] {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);  // already loaded, because there is a GPU heap
    void* const found = driver == nullptr ? nullptr : dlsym(driver, "cuStreamIsCapturing");
    if (found == nullptr) throw error(code::device_unavailable, "pgas.torch: libcuda.so.1 has no cuStreamIsCapturing");
    return reinterpret_cast<function*>(found);
  }();
  constexpr int none = 0;
  int status = none;
  const int result = ask(current_stream(device), &status);
  // The legacy stream can't be captured. The query for it fails while another stream is captured.
  return result != 0 || status != none;
}

void wait_for_gpu(int device) {
  const c10::impl::VirtualGuardImpl cuda(c10::DeviceType::CUDA);
  cuda.synchronizeDevice(static_cast<c10::DeviceIndex>(device));
}

}  // namespace pgas::torch_backend
