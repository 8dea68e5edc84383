/// @file
/// The table of a PE's routes to all others, which contexts name.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "device/owned_device_memory.hpp"
#include "host/topology/domains.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/peer_routes.hpp"

namespace pgas::detail {

/// Owns the table in memory of the device. Worlds have one where some PEs are proxied, or where the slots do not lie in
/// a row.
class device_route_table {
 public:
  device_route_table() = default;
  /// @param contents all but the slots @param distances by PE, of direct ones, of their slots from this PE's
  device_route_table(device& device, routes contents, const domains& direct, std::span<const std::int32_t> distances);
  /// For a world without proxied PEs: with a ring that has no commands. @param here the context without it @param
  /// domain the team of all PEs
  device_route_table(device& device, const context& here, const team_view& domain, const domains& direct,
                     std::span<const std::int32_t> distances);

  /// The table as kernels see it.
  [[nodiscard]] const routes* get() const noexcept { return static_cast<const routes*>(table_.get()); }
  /// routes::slots for threads of the host.
  [[nodiscard]] const std::int32_t* slots() const noexcept { return slots_.data(); }

 private:
  void fill(device& device, routes contents, const domains& direct, std::span<const std::int32_t> distances);

  std::vector<std::int32_t> slots_;
  device_block idle_;   ///< ring_heads of the ring without commands
  device_block table_;  ///< a `routes` and its slots
};

}  // namespace pgas::detail
