/// @file
/// Memory of cuMemAlloc, shared by the legacy handles of CUDA IPC. The driver chooses the addresses, of the owner and
/// of importers.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "device/cuda/driver.hpp"
#include "device/device.hpp"

namespace pgas::detail::cuda {

/// The segments of a device that are shared in this way. *Callers* any thread, with the device's context current.
class legacy_segments {
 public:
  /// The size that cuMemAlloc takes from the driver; a handle shares all of it.
  static constexpr std::size_t block_bytes = std::size_t{2} << 20;

  explicit legacy_segments(int ordinal) : ordinal_(ordinal) {}
  legacy_segments(const legacy_segments&) = delete;
  legacy_segments& operator=(const legacy_segments&) = delete;

  /// Memory in whole blocks of its own, so that a handle shares nothing else. *Errors* out_of_memory, device_failed.
  [[nodiscard]] segment_id create(std::size_t bytes);
  [[nodiscard]] exported_handle export_segment(segment_id segment) const;
  /// *Errors* handle_invalid.
  [[nodiscard]] segment_id import_segment(const exported_handle& handle, std::size_t bytes);
  /// Null for segments of other kinds.
  [[nodiscard]] void* address_of(segment_id segment) const;
  void destroy(segment_id segment) noexcept;
  /// Leaves the memory to the end of the process.
  void forget(segment_id segment) noexcept { static_cast<void>(take(segment)); }

 private:
  enum class origin { made, opened, of_this_process };

  [[nodiscard]] segment_id keep(CUdeviceptr at, origin from);
  /// Removes an entry: nobody in this process opens it any more.
  [[nodiscard]] origin take(segment_id segment) noexcept;

  const int ordinal_;
  mutable std::mutex mutex_;
  std::multimap<segment_id, origin> segments_;  ///< an address of the device is the number of its segment
};

}  // namespace pgas::detail::cuda
