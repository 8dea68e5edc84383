#include "device/cuda/shared_chunks.hpp"

#include <fmt/format.h>

#include <cstring>

namespace pgas::detail::cuda {

chunk_list::~chunk_list() {
  const relaxed_capture_scope undisturbed;
  unmap();
  for (const chunk& one : chunks_) static_cast<void>(driver().release(one.handle));
}

std::size_t chunk_list::bytes() const noexcept {
  std::size_t sum = 0;
  for (const chunk& one : chunks_) sum += one.bytes;
  return sum;
}

void chunk_list::map(int ordinal, access importers) {
  const std::size_t all = bytes();
  check(driver().address_reserve(&start_, all, 0, 0, 0),
        fmt::format("reserving {} bytes of addresses (cuMemAddressReserve)", all), code::address_space);
  reserved_ = all;
  try {
    for (const chunk& one : chunks_) {
      check(driver().map(start_ + mapped_, one.bytes, 0, one.handle, 0),
            fmt::format("cuMemMap of {} bytes of shared memory", one.bytes), code::handle_invalid);
      mapped_ += one.bytes;
    }
    CUmemAccessDesc wanted{};
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.location.id = ordinal;
    wanted.flags = importers == access::read_only ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    check(
        driver().set_access(start_, all, &wanted, 1),
        fmt::format("cuMemSetAccess for GPU {} (does it reach the memory's GPU? see nvidia-smi topo -p2p rw)", ordinal),
        code::peer_unreachable);
  } catch (...) {
    unmap();
    throw;
  }
}

void chunk_list::unmap() noexcept {
  std::size_t at = 0;
  for (const chunk& one : chunks_) {  // as it was mapped
    if (at == mapped_) break;
    static_cast<void>(driver().unmap(start_ + at, one.bytes));
    at += one.bytes;
  }
  if (reserved_ > 0) static_cast<void>(driver().address_free(start_, reserved_));
  start_ = 0;
  mapped_ = 0;
  reserved_ = 0;
}

int visible_gpus() {
  static_cast<void>(driver());
  int count = 0;
  check(cudaGetDeviceCount(&count), "looking for GPUs", code::device_unavailable);
  return count;
}

gpu_id uuid_of(int ordinal) {
  if (const int count = visible_gpus(); ordinal < 0 || ordinal >= count)
    throw error(code::device_unavailable,
                fmt::format("there is no GPU {}: this process sees {}, numbered from 0", ordinal, count));
  CUdevice device = 0;
  check(driver().device_at(&device, ordinal), "cuDeviceGet", code::device_unavailable);
  CUuuid uuid{};
  check(driver().device_uuid(&uuid, device), "cuDeviceGetUuid", code::device_unavailable);
  gpu_id id;
  std::memcpy(id.data(), uuid.bytes, id.size());
  return id;
}

std::optional<int> gpu_with(const gpu_id& uuid) {
  const int count = visible_gpus();
  for (int ordinal = 0; ordinal < count; ++ordinal)
    if (uuid_of(ordinal) == uuid) return ordinal;
  return std::nullopt;
}

std::string text_of(const gpu_id& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", std::to_integer<unsigned>(uuid[i]));
  }
  return text;
}

}  // namespace pgas::detail::cuda
