#include "device/cuda/primary_context.hpp"

#include <fmt/format.h>

#include <cstring>

namespace pgas::detail {

namespace cuda {

int visible_gpus() {
  static_cast<void>(driver());
  int count = 0;
  check(cudaGetDeviceCount(&count), "looking for GPUs", code::device_unavailable);
  return count;
}

std::string text_of(const gpu_uuid& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", std::to_integer<unsigned>(uuid[i]));
  }
  return text;
}

}  // namespace cuda

gpu_uuid uuid_of_gpu(int ordinal) {
  using namespace cuda;
  if (const int count = visible_gpus(); ordinal < 0 || ordinal >= count)
    throw error(code::device_unavailable,
                fmt::format("there is no GPU {}: this process sees {}, numbered from 0", ordinal, count));
  CUdevice device = 0;
  check(driver().device_at(&device, ordinal), "cuDeviceGet", code::device_unavailable);
  CUuuid uuid{};
  check(driver().device_uuid(&uuid, device), "cuDeviceGetUuid", code::device_unavailable);
  gpu_uuid bytes;
  static_assert(sizeof uuid == sizeof bytes);
  std::memcpy(bytes.data(), &uuid, sizeof uuid);
  return bytes;
}

std::optional<int> find_gpu(const gpu_uuid& uuid) {
  const int count = cuda::visible_gpus();
  for (int ordinal = 0; ordinal < count; ++ordinal)
    if (uuid_of_gpu(ordinal) == uuid) return ordinal;
  return std::nullopt;
}

}  // namespace pgas::detail
