/// @file
/// The memory of a heap whose addresses the device chooses: one block for each PE, whole from the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device.hpp"
#include "host/control/control_group.hpp"
#include "host/topology/domains.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// Owns this PE's block, and the imported ones of its direct peers. They lie anywhere, at multiples of `unit`: peers'
/// addresses differ from this PE's by a number of units for each PE, which is why a PE has one block. With several,
/// each address would need a search for its block first.
class device_placed_slots {
 public:
  /// Distances between blocks are counted in these: 32 bits of them are more than a process has addresses.
  static constexpr int log2_unit = 21;
  static constexpr std::size_t unit = std::size_t{1} << log2_unit;

  /// Collective, same arguments on all PEs: makes a block on each, imports those of direct peers. *Errors* those of
  /// device::create and device::import_segment, the first on any PE, the same on all.
  /// @param bytes of a slot @param alignment of every PE's own slot, a power of two, for which the block is so much
  /// larger
  device_placed_slots(device& device, const control_group& everyone, const domains& domains, handle_kind kind,
                      std::size_t bytes, std::size_t alignment);
  ~device_placed_slots();
  device_placed_slots(const device_placed_slots&) = delete;
  device_placed_slots& operator=(const device_placed_slots&) = delete;

  /// Where the slots begin, by the numbers of a domain's members, domains::index().
  [[nodiscard]] const std::vector<std::byte*>& addresses() const noexcept { return addresses_; }
  /// Gives back the blocks of peers, which must not be used any more: their owners may free them after the next
  /// barrier.
  void close_peers() noexcept;

 private:
  /// Where a segment lies.
  [[nodiscard]] std::byte* start_of(segment_id segment) const;
  void release() noexcept;

  device& device_;
  std::vector<segment_id> own_;  ///< one, or none yet
  std::vector<segment_id> imported_;
  std::vector<std::byte*> addresses_;
};

}  // namespace pgas::detail
