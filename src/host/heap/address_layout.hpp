/// @file
/// The addresses of the heap: equal slots in a row, one per PE, reserved without memory behind them.
#pragma once

#include <cstddef>

#include "device/device.hpp"
#include "host/control/control_group.hpp"

namespace pgas::detail {

/// What the slots should be like; the same on all PEs.
struct layout_request {
  /// User addresses have at least 47 bits on the systems that matter; half of that is more than any of them has memory.
  static constexpr std::size_t most_addresses = std::size_t{1} << 46;

  int slots = 1;
  std::size_t stride = 0;     ///< a power of two
  std::size_t least = 0;      ///< how far the stride may be halved where addresses are short
  std::size_t alignment = 0;  ///< that the base must have, a power of two; it gets that of the stride where it can
};

/// Owns the reservation of this PE.
class address_layout {
 public:
  /// Collective: the same address on all PEs if any of a few is free everywhere, else whatever each PE gets; the
  /// largest stride that all can have. *Errors* address_space naming the PE, the same on all PEs.
  address_layout(device& device, const control_group& group, const layout_request& wish);
  ~address_layout();
  address_layout(const address_layout&) = delete;
  address_layout& operator=(const address_layout&) = delete;

  [[nodiscard]] std::byte* slot(int pe) const noexcept {
    return base_ + (static_cast<std::size_t>(pe) << log2_stride_);
  }
  [[nodiscard]] int log2_stride() const noexcept { return log2_stride_; }
  [[nodiscard]] std::size_t stride() const noexcept { return std::size_t{1} << log2_stride_; }
  [[nodiscard]] bool same_base() const noexcept { return same_base_; }
  /// Of every slot on every PE, a power of two: what offsets in them can be aligned to.
  [[nodiscard]] std::size_t alignment() const noexcept { return alignment_; }

 private:
  /// Addresses of the system's choice, aligned to the stride where there are such. *Errors* address_space.
  [[nodiscard]] void* reserve_aligned(std::size_t bytes);
  [[nodiscard]] bool agree_on_base(const control_group& group, std::size_t bytes, std::size_t alignment);
  [[nodiscard]] bool reserve_anywhere(const control_group& group, std::size_t bytes, std::size_t alignment,
                                      bool last_try);
  void release() noexcept;

  device& device_;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  int log2_stride_ = 0;
  std::size_t alignment_ = 0;
  bool same_base_ = false;
};

}  // namespace pgas::detail
