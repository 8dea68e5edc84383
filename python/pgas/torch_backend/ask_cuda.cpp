#include "ask_cuda.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <cstddef>
#include <string>

#include "pgas/error.hpp"

namespace pgas::torch_backend {

void* current_stream(int device) {
  const c10::impl::VirtualGuardImpl cuda(c10::DeviceType::CUDA);
  const c10::Device gpu(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(device));
  return cuda.getStreamNativeHandle(cuda.getStream(gpu));
}

namespace {

template <class Function>
Function* function_of_driver(const char* name) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);  // already loaded, because there is a GPU heap
  void* const found = driver == nullptr ? nullptr : dlsym(driver, name);
  if (found == nullptr) throw error(code::device_unavailable, std::string("pgas.torch: libcuda.so.1 has no ") + name);
  return reinterpret_cast<Function*>(found);
}

}  // namespace

bool is_capturing(int device) {
  static auto* const ask = function_of_driver<int(void* stream, int* status)>("cuStreamIsCapturing");
  constexpr int none = 0;
  int status = none;
  const int result = ask(current_stream(device), &status);
  // The legacy stream can't be captured. The query for it fails while another stream is captured.
  return result != 0 || status != none;
}

std::uint64_t capture_id(int device) {
  using function = int(void* stream, int* status, std::uint64_t* id, void** graph, const void** last, std::size_t* n);
  static auto* const ask = function_of_driver<function>("cuStreamGetCaptureInfo_v2");
  constexpr int active = 1;
  int status = 0;
  std::uint64_t id = 0;
  return ask(current_stream(device), &status, &id, nullptr, nullptr, nullptr) == 0 && status == active ? id : 0;
}

void wait_for_gpu(int device) {
  const c10::impl::VirtualGuardImpl cuda(c10::DeviceType::CUDA);
  cuda.synchronizeDevice(static_cast<c10::DeviceIndex>(device));
}

}  // namespace pgas::torch_backend
