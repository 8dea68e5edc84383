#include "host/proxy/device_route_table.hpp"

#include <cstddef>

namespace pgas::detail {

device_route_table::device_route_table(device& device, routes contents, const domains& direct,
                                       std::span<const std::int32_t> distances) {
  fill(device, contents, direct, distances);
}

device_route_table::device_route_table(device& device, const context& here, const team_view& domain,
                                       const domains& direct, std::span<const std::int32_t> distances)
    : idle_(device, sizeof(ring_heads)) {
  routes contents;
  contents.domain = domain;
  contents.control = here.control_;
  contents.my_slot = here.my_slot_;
  contents.ring.heads = static_cast<ring_heads*>(idle_.get());  // zeros, because the ring has no commands
  fill(device, contents, direct, distances);
}

void device_route_table::fill(device& device, routes contents, const domains& direct,
                              std::span<const std::int32_t> distances) {
  slots_.assign(distances.size(), routes::proxied);
  for (const int pe : direct.members()) slots_[static_cast<std::size_t>(pe)] = distances[static_cast<std::size_t>(pe)];
  const std::size_t bytes = slots_.size() * sizeof(std::int32_t);
  table_ = {device, sizeof(routes) + bytes};
  auto* const at = static_cast<std::byte*>(table_.get());
  contents.slots = reinterpret_cast<const std::int32_t*>(at + sizeof(routes));
  device.copy(at, &contents, sizeof(routes), nullptr);
  device.copy(at + sizeof(routes), slots_.data(), bytes, nullptr);
  device.synchronize(nullptr);
}

}  // namespace pgas::detail
