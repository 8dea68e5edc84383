/// @file
/// The table of a PE's routes to all other PEs. Contexts point to the table.
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

/// Owns the table in device memory. A world has a table if some PEs are proxied, or if the slots are not evenly spaced.
class device_route_table {
 public:
  device_route_table() = default;
  /// @param contents the table without the slots
  /// @param distances the distances from this PE's slot to the slots of direct PEs, indexed by PE
  device_route_table(device& device, routes contents, const domains& direct, std::span<const std::int32_t> distances);
  /// For a world without proxied PEs. The table has a ring without commands.
  /// @param here the context without the table
  /// @param domain the team of all PEs
  device_route_table(device& device, const context& here, const team_view& domain, const domains& direct,
                     std::span<const std::int32_t> distances);

  /// The address of the table for kernels.
  [[nodiscard]] const routes* get() const noexcept { return static_cast<const routes*>(table_.get()); }
  /// routes::slots, for threads of the host.
  [[nodiscard]] const std::int32_t* slots() const noexcept { return slots_.data(); }

 private:
  void fill(device& device, routes contents, const domains& direct, std::span<const std::int32_t> distances);

  std::vector<std::int32_t> slots_;
  device_block idle_;   ///< ring_heads of the ring that has no commands
  device_block table_;  ///< a `routes` and the slots
};

}  // namespace pgas::detail
