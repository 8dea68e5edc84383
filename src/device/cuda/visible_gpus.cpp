#include "device/visible_gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "device/cuda/driver.hpp"

namespace pgas::detail {

using cuda::check;
using cuda::driver;

int visible_gpus() {
  int count = 0;
  check(driver().device_count(&count), "looking for GPUs", code::device_unavailable);
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

namespace {

/// The UUIDs, indexed by the GPU's number. The UUIDs are queried once, because the GPUs that a process sees do not
/// change.
const std::vector<gpu_uuid>& visible_uuids() {
  static const std::vector<gpu_uuid> all = [] {
    std::vector<gpu_uuid> found(static_cast<std::size_t>(visible_gpus()));
    for (std::size_t ordinal = 0; ordinal < found.size(); ++ordinal) {
      CUdevice device = 0;
      check(driver().device_at(&device, static_cast<int>(ordinal)), "cuDeviceGet", code::device_unavailable);
      CUuuid uuid{};
      check(driver().device_uuid(&uuid, device), "cuDeviceGetUuid", code::device_unavailable);
      static_assert(sizeof uuid == sizeof(gpu_uuid));
      std::memcpy(found[ordinal].data(), &uuid, sizeof uuid);
    }
    return found;
  }();
  return all;
}

}  // namespace

gpu_uuid uuid_of_gpu(int ordinal) {
  const std::vector<gpu_uuid>& all = visible_uuids();
  if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= all.size())
    throw error(code::device_unavailable,
                fmt::format("there is no GPU {}: this process sees {}, numbered from 0", ordinal, all.size()));
  return all[static_cast<std::size_t>(ordinal)];
}

std::optional<int> find_gpu(const gpu_uuid& uuid) {
  const std::vector<gpu_uuid>& all = visible_uuids();
  const auto found = std::ranges::find(all, uuid);
  return found == all.end() ? std::nullopt : std::optional<int>(static_cast<int>(found - all.begin()));
}

}  // namespace pgas::detail
