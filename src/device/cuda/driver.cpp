#include "device/cuda/driver.hpp"

#include <fmt/format.h>

namespace pgas::detail::cuda {

void* driver_function::address() const {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult query{};
  const cudaError_t result = cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &query);
  if (result != cudaSuccess || query != cudaDriverEntryPointSuccess || found == nullptr)
    throw error(code::device_unavailable,
                fmt::format("the CUDA driver has no {}: {}; install a driver for CUDA {}.{} or newer", name,
                            result != cudaSuccess ? cudaGetErrorString(result) : "it is too old", version / 1000,
                            version % 1000 / 10));
  return found;
}

const driver_api& driver() {
  static const driver_api api = [] {
    int version = 0;
    if (const cudaError_t result = cudaDriverGetVersion(&version); result != cudaSuccess || version == 0)
      throw error(code::device_unavailable, "no CUDA driver on this machine (libcuda.so.1 could not be loaded)");
    return driver_api();
  }();
  return api;
}

void check(CUresult result, std::string_view what, code kind) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver().error_name(result, &name) != CUDA_SUCCESS || name == nullptr) name = "unknown error";
  if (driver().error_string(result, &text) != CUDA_SUCCESS || text == nullptr) text = "no description";
  throw error(kind, fmt::format("{}: {} ({})", what, name, text));
}

void check(cudaError_t result, std::string_view what, code kind) {
  if (result == cudaSuccess) return;
  // Clears the error, which is reported here and must not appear again in the application.
  static_cast<void>(cudaGetLastError());
  throw error(kind, fmt::format("{}: {} ({})", what, cudaGetErrorName(result), cudaGetErrorString(result)));
}

}  // namespace pgas::detail::cuda
