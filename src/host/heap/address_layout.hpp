/// @file
/// The addresses of the heap. Each PE of the domain has a slot, and all slots have the same size. By default the slots
/// form one reserved range without memory. If the device chooses addresses, the slots can have any addresses, and all
/// their memory is allocated at the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "device/device.hpp"
#include "host/exchange/control_group.hpp"
#include "host/heap/device_placed_slots.hpp"
#include "host/heap/group_segment.hpp"
#include "host/log/logger.hpp"
#include "host/topology/domains.hpp"

namespace pgas::detail {

/// Owns the reservation of this PE.
class address_layout {
 public:
  /// User addresses have at least 47 bits on the supported systems. Half of this range is larger than the memory of any
  /// supported system.
  static constexpr std::size_t most_addresses = std::size_t{1} << 46;

  /// Reserves the slots. Collective, with the same arguments on all PEs. If one of a few base addresses is free on all
  /// PEs, all PEs use that base. Otherwise each PE has a separate base. The stride is the largest stride that all PEs
  /// can reserve. *Errors* address_space with the number of the PE that failed. All PEs throw the same error.
  /// @param stride a power of two
  /// @param least_stride the smallest stride; if there are too few addresses, the stride is halved down to this value
  /// @param alignment the alignment of the base, a power of two; the base is aligned to the stride where possible
  address_layout(device& device, const control_group& group, int slots, std::size_t stride, std::size_t least_stride,
                 std::size_t alignment);
  /// Makes the slots with a kind of handle for which the device chooses the addresses: one slot for each member of the
  /// domain. Collective, with the same arguments on all PEs.
  /// *Errors* those of device_placed_slots.
  /// @param common the size of the memory that all PEs share
  /// @param teams the size of the memory of teams, which follows the common memory
  address_layout(device& device, const control_group& group, const domains& domains, handle_kind kind,
                 std::size_t common, std::size_t teams);
  ~address_layout();

  /// The result of with_span().
  struct spanned {
    std::unique_ptr<address_layout> slots;
    std::unique_ptr<group_segment> first;
  };
  using opening = std::function<std::unique_ptr<group_segment>(const address_layout&)>;
  /// Reserves the slots, and puts one span of the device at the addresses of the domain's slots, in two exchanges.
  /// Collective. The result is empty if a step fails on any PE, for example because the size of files is limited. In
  /// that case each PE creates segments, and its peers map them.
  /// @param stride a power of two
  /// @param alignment the alignment of the base, a power of two
  /// @param open_first opens the first segment of all PEs on the new layout, or returns null; may throw
  [[nodiscard]] static spanned with_span(device& device, const control_group& everyone, const domains& domains,
                                         handle_kind kind, std::size_t stride, std::size_t alignment,
                                         const opening& open_first, log::logger& log);
  /// The size of the largest domain in which an access beyond the end of a peer's memory faults. In larger domains,
  /// only accesses beyond the end of a PE's own memory fault. The guard needs two mappings for each pair of PEs. The
  /// operating system keeps all mappings of one file in one tree. With guards, a growth of the heap of 1,024 PEs
  /// therefore took longer than with one file for each segment.
  static constexpr int most_guarded = 64;
  [[nodiscard]] bool guards_peers() const noexcept { return guards_peers_; }
  [[nodiscard]] bool has_span() const noexcept { return span_bytes_ != 0; }
  address_layout(const address_layout&) = delete;
  address_layout& operator=(const address_layout&) = delete;

  [[nodiscard]] std::byte* slot(int pe) const noexcept {
    return blocks_ ? blocks_->addresses()[static_cast<std::size_t>(pe)]
                   : base_ + (static_cast<std::size_t>(pe) << log2_stride_);
  }
  /// Whether all memory of the slots is allocated at the start.
  [[nodiscard]] bool has_memory() const noexcept { return blocks_ != nullptr; }
  /// The binary logarithm of the unit of distances between slots. If the slots are evenly spaced, the distance between
  /// adjacent slots is one unit.
  [[nodiscard]] int log2_stride() const noexcept { return log2_stride_; }
  /// The distance between the slots of two PEs, in units of 2^log2_stride() bytes.
  [[nodiscard]] std::int32_t distance(int from, int to) const noexcept {
    return static_cast<std::int32_t>((slot(to) - slot(from)) >> log2_stride_);
  }
  /// The offset in a slot at which memory of teams begins.
  [[nodiscard]] std::size_t team_begin() const noexcept { return team_begin_; }
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return slot_bytes_; }
  /// Calls device_placed_slots::close_peers() if the device chooses the addresses. If not, does nothing.
  void close_peers() const noexcept {
    if (blocks_) blocks_->close_peers();
  }
  [[nodiscard]] std::size_t stride() const noexcept { return std::size_t{1} << log2_stride_; }
  /// The size of all slots together, in bytes.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool same_base() const noexcept { return same_base_; }
  /// The alignment of all slots on all PEs, or of each PE's own slot if the device chooses addresses. A power of two.
  /// No allocation can have a larger alignment.
  [[nodiscard]] std::size_t alignment() const noexcept { return alignment_; }

 private:
  explicit address_layout(device& device) : device_(device) {}
  /// Reserves the proposed addresses if they are free. Without a proposal, prefers the fixed base addresses of
  /// address_layout.cpp.
  void reserve_for_span(std::uintptr_t proposal, std::size_t bytes, std::size_t alignment);
  /// Reserves addresses that the system chooses, aligned to the stride where possible. *Errors* address_space.
  [[nodiscard]] void* reserve_aligned(std::size_t bytes);
  [[nodiscard]] bool agree_on_base(const control_group& group, std::size_t bytes, std::size_t alignment);
  [[nodiscard]] bool reserve_anywhere(const control_group& group, std::size_t bytes, std::size_t alignment,
                                      bool last_try);
  void release() noexcept;

  device& device_;
  std::unique_ptr<device_placed_slots> blocks_;  ///< null if the slots are evenly spaced
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t span_bytes_ = 0;  ///< 0 if the layout has no span
  int log2_stride_ = 0;
  std::size_t alignment_ = 0;
  std::size_t team_begin_ = 0;
  std::size_t slot_bytes_ = 0;
  bool same_base_ = false;
  bool guards_peers_ = true;  ///< whether an access of this PE beyond the end of a peer's memory faults
};

}  // namespace pgas::detail
