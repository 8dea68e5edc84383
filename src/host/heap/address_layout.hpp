/// @file
/// The addresses of the heap: equal slots in a row, one for each PE of the domain, reserved without memory. Or, where
/// the device chooses addresses, slots anywhere that have all their memory from the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device/device.hpp"
#include "host/control/control_group.hpp"
#include "host/heap/device_placed_slots.hpp"
#include "host/topology/domains.hpp"

namespace pgas::detail {

/// Owns the reservation of this PE.
class address_layout {
 public:
  /// User addresses have at least 47 bits on the systems that matter. Half of that exceeds the memory of any of them.
  static constexpr std::size_t most_addresses = std::size_t{1} << 46;

  /// Collective, same arguments on all PEs: the same address on all PEs if one of a few is free everywhere, else an
  /// address of each PE's own; the largest stride that all can have. *Errors* address_space naming the PE, the same on
  /// all PEs.
  /// @param stride a power of two @param least_stride how far it may be halved where addresses are short
  /// @param alignment of the base, a power of two; the base gets that of the stride where it can
  address_layout(device& device, const control_group& group, int slots, std::size_t stride, std::size_t least_stride,
                 std::size_t alignment);
  /// Collective, same arguments on all PEs: a slot for each member of the domain by a kind of handle that the device
  /// places. *Errors* those of device_placed_slots.
  /// @param common bytes for the memory of all PEs @param teams bytes after them for memory of teams
  address_layout(device& device, const control_group& group, const domains& domains, handle_kind kind,
                 std::size_t common, std::size_t teams);
  ~address_layout();
  address_layout(const address_layout&) = delete;
  address_layout& operator=(const address_layout&) = delete;

  [[nodiscard]] std::byte* slot(int pe) const noexcept {
    return blocks_ ? blocks_->addresses()[static_cast<std::size_t>(pe)]
                   : base_ + (static_cast<std::size_t>(pe) << log2_stride_);
  }
  /// Whether the slots have memory, wherever they lie.
  [[nodiscard]] bool has_memory() const noexcept { return blocks_ != nullptr; }
  /// Slots lie at multiples of two to the power of this from one another; in a row they follow at that distance.
  [[nodiscard]] int log2_stride() const noexcept { return log2_stride_; }
  /// How many of these lie between the slots of two PEs.
  [[nodiscard]] std::int32_t distance(int from, int to) const noexcept {
    return static_cast<std::int32_t>((slot(to) - slot(from)) >> log2_stride_);
  }
  /// From where to where a slot is for memory of teams.
  [[nodiscard]] std::size_t team_begin() const noexcept { return team_begin_; }
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return slot_bytes_; }
  /// device_placed_slots::close_peers(), where there are blocks.
  void close_peers() const noexcept {
    if (blocks_) blocks_->close_peers();
  }
  [[nodiscard]] std::size_t stride() const noexcept { return std::size_t{1} << log2_stride_; }
  /// Of all slots together.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool same_base() const noexcept { return same_base_; }
  /// Of every slot on every PE, or of a PE's own where slots lie anywhere, a power of two: the largest alignment of an
  /// allocation.
  [[nodiscard]] std::size_t alignment() const noexcept { return alignment_; }

 private:
  /// Addresses of the system's choice, aligned to the stride where possible. *Errors* address_space.
  [[nodiscard]] void* reserve_aligned(std::size_t bytes);
  [[nodiscard]] bool agree_on_base(const control_group& group, std::size_t bytes, std::size_t alignment);
  [[nodiscard]] bool reserve_anywhere(const control_group& group, std::size_t bytes, std::size_t alignment,
                                      bool last_try);
  void release() noexcept;

  device& device_;
  std::unique_ptr<device_placed_slots> blocks_;  ///< null: slots in a row
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  int log2_stride_ = 0;
  std::size_t alignment_ = 0;
  std::size_t team_begin_ = 0;
  std::size_t slot_bytes_ = 0;
  bool same_base_ = false;
};

}  // namespace pgas::detail
