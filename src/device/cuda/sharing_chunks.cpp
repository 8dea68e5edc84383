#include "device/cuda/sharing_chunks.hpp"

#include <fmt/format.h>

#include "common/step_times.hpp"

namespace pgas::detail::cuda {

chunk_list::~chunk_list() {
  const relaxed_capture_scope undisturbed;
  unmap();
  for (const chunk& part : chunks_) static_cast<void>(driver().release(part.handle));
}

std::size_t chunk_list::bytes() const noexcept {
  std::size_t sum = 0;
  for (const chunk& part : chunks_) sum += part.bytes;
  return sum;
}

void chunk_list::map(int ordinal, access importers) {
  const std::size_t all = bytes();
  check(driver().address_reserve(&start_, all, 0, 0, 0),
        fmt::format("reserving {} bytes of addresses (cuMemAddressReserve)", all), code::address_space);
  reserved_ = all;
  step_times::lap("reserve");
  try {
    for (const chunk& part : chunks_) {
      check(driver().map(start_ + mapped_, part.bytes, 0, part.handle, 0),
            fmt::format("cuMemMap of {} bytes of shared memory", part.bytes), code::handle_invalid);
      mapped_ += part.bytes;
    }
    step_times::lap("map");
    CUmemAccessDesc wanted{};
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.location.id = ordinal;
    wanted.flags = importers == access::read_only ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    check(
        driver().set_access(start_, all, &wanted, 1),
        fmt::format("cuMemSetAccess for GPU {} (does it reach the memory's GPU? see nvidia-smi topo -p2p rw)", ordinal),
        code::peer_unreachable);
    step_times::lap("access");
  } catch (...) {
    unmap();
    throw;
  }
}

void chunk_list::unmap() noexcept {
  std::size_t at = 0;
  for (const chunk& part : chunks_) {  // the pieces in the order in which they are mapped
    if (at == mapped_) break;
    static_cast<void>(driver().unmap(start_ + at, part.bytes));
    at += part.bytes;
  }
  if (reserved_ > 0) static_cast<void>(driver().address_free(start_, reserved_));
  start_ = 0;
  mapped_ = 0;
  reserved_ = 0;
}

}  // namespace pgas::detail::cuda
