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

/// Owns this PE's block and the imported blocks of its direct peers. The address of a block is a multiple of `unit`.
/// For each peer, the distance from this PE's block to the peer's block is a constant number of units. Each PE has only
/// one block, so that the address of a peer needs no search.
class device_placed_slots {
 public:
  /// The unit of distances between blocks. A distance fits into 32 bits, because 2^32 units are larger than the address
  /// space of a process.
  static constexpr int log2_unit = 21;
  static constexpr std::size_t unit = std::size_t{1} << log2_unit;

  /// Creates a block on each PE and imports the blocks of direct peers. Collective, with the same arguments on all PEs.
  /// *Errors* those of device::create and device::import_segment; all PEs throw the first error of any PE.
  /// @param bytes the size of a slot
  /// @param alignment the alignment of every PE's own slot, a power of two; a block is larger than a slot by
  /// `alignment` bytes
  device_placed_slots(device& device, const control_group& everyone, const domains& domains, handle_kind kind,
                      std::size_t bytes, std::size_t alignment);
  ~device_placed_slots();
  device_placed_slots(const device_placed_slots&) = delete;
  device_placed_slots& operator=(const device_placed_slots&) = delete;

  /// The starts of the slots, indexed by domains::index().
  [[nodiscard]] const std::vector<std::byte*>& addresses() const noexcept { return addresses_; }
  /// Releases the blocks of peers. These blocks must not be accessed any more, because their owners can free them after
  /// the next barrier.
  void close_peers() noexcept;

 private:
  /// The address of a segment.
  [[nodiscard]] std::byte* start_of(segment_id segment) const;
  void release() noexcept;

  device& device_;
  std::vector<segment_id> own_;  ///< one segment; empty until the segment is created
  std::vector<segment_id> imported_;
  std::vector<std::byte*> addresses_;
};

}  // namespace pgas::detail
