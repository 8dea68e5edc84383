#include "device/cuda/choose_gpu.hpp"

#include <fmt/format.h>

#include "device/device.hpp"

namespace pgas::detail::cuda {

int choose_gpu(const driver_api& api, int asked, int otherwise) {
  CUcontext current = nullptr;
  if (api.ctx_current(&current) != CUDA_SUCCESS || current == nullptr) return asked >= 0 ? asked : otherwise;
  CUdevice device = 0;
  check(api.ctx_device(&device), "cuCtxGetDevice", code::device_unavailable);
  if (asked >= 0 && asked != device) return asked;
  CUcontext primary = nullptr;
  check(api.primary_retain(&primary, device), "cuDevicePrimaryCtxRetain", code::device_unavailable);
  const bool same = current == primary;
  static_cast<void>(api.primary_release(device));
  if (!same)
    throw misused_gpu(
        fmt::format("the current CUDA context of GPU {} is not its primary one, which the library uses: make "
                    "that current before joining (cudaSetDevice({}), or cuDevicePrimaryCtxRetain() and "
                    "cuCtxSetCurrent()) instead of a context of cuCtxCreate()",
                    device, device));
  return device;
}

}  // namespace pgas::detail::cuda
