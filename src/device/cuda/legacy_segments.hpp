/// @file
/// Memory of cuMemAlloc, shared by the legacy handles of CUDA IPC. The driver chooses the addresses in the process of
/// the owner and in the processes of importers.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "device/cuda/driver.hpp"
#include "device/device.hpp"

namespace pgas::detail::cuda {

/// The segments of a device that are shared by legacy handles. *Callers* any thread, with the device's context current.
class legacy_segments {
 public:
  /// The size of the blocks that cuMemAlloc takes from the driver. A handle shares the whole block.
  static constexpr std::size_t block_bytes = std::size_t{2} << 20;

  explicit legacy_segments(int ordinal) : ordinal_(ordinal) {}
  legacy_segments(const legacy_segments&) = delete;
  legacy_segments& operator=(const legacy_segments&) = delete;

  /// Allocates memory in whole blocks, so that a handle shares no other memory. *Errors* out_of_memory, device_failed.
  [[nodiscard]] segment_id create(std::size_t bytes);
  [[nodiscard]] exported_handle export_segment(segment_id segment) const;
  /// *Errors* handle_invalid.
  [[nodiscard]] segment_id import_segment(const exported_handle& handle, std::size_t bytes);
  /// The address of a segment that is shared by a legacy handle; null for any other segment.
  [[nodiscard]] void* address_of(segment_id segment) const;
  void destroy(segment_id segment) noexcept;
  /// Removes the entry of a segment whose memory stays allocated until the process ends.
  void forget(segment_id segment) noexcept { static_cast<void>(take(segment)); }

 private:
  enum class origin { allocated, opened, of_this_process };

  [[nodiscard]] segment_id keep(CUdeviceptr at, origin from);
  /// Removes an entry. After that, no code in this process opens the segment.
  [[nodiscard]] origin take(segment_id segment) noexcept;

  const int ordinal_;
  mutable std::mutex mutex_;
  std::multimap<segment_id, origin> segments_;  ///< the number of a segment is its address on the device
};

}  // namespace pgas::detail::cuda
