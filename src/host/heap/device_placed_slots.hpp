/// @file
/// The memory of a heap whose addresses the device chooses: one block for each PE, allocated completely at the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device.hpp"
#include "host/exchange/control_group.hpp"
#include "host/topology/domains.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// Owns this PE's block and the imported blocks of its direct peers. Blocks lie at any multiple of `unit`. A peer's
/// address is this PE's address plus a number of units that is constant for the peer. A PE therefore has one block
/// only: with several blocks, each address would need a search.
class device_placed_slots {
 public:
  /// The unit of distances between blocks: 2^32 units exceed the address space of a process.
  static constexpr int log2_unit = 21;
  static constexpr std::size_t unit = std::size_t{1} << log2_unit;

  /// Creates a block on each PE and imports the blocks of direct peers. Collective, same arguments on all PEs. *Errors*
  /// those of device::create and device::import_segment: the first error of any PE, the same on all.
  /// @param bytes of a slot @param alignment of every PE's own slot, a power of two; the block is larger by that amount
  device_placed_slots(device& device, const control_group& everyone, const domains& domains, handle_kind kind,
                      std::size_t bytes, std::size_t alignment);
  ~device_placed_slots();
  device_placed_slots(const device_placed_slots&) = delete;
  device_placed_slots& operator=(const device_placed_slots&) = delete;

  /// The starts of the slots, indexed by domains::index().
  [[nodiscard]] const std::vector<std::byte*>& addresses() const noexcept { return addresses_; }
  /// Releases the blocks of peers. They must not be accessed any more, because their owners may free them after the
  /// next barrier.
  void close_peers() noexcept;

 private:
  /// The address of a segment.
  [[nodiscard]] std::byte* start_of(segment_id segment) const;
  void release() noexcept;

  device& device_;
  std::vector<segment_id> own_;  ///< one segment, or none yet
  std::vector<segment_id> imported_;
  std::vector<std::byte*> addresses_;
};

}  // namespace pgas::detail
