/// @file
/// The operations that kernels compiled with PGAS_TRACE have recorded, as tracks of the trace.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "common/trace/document.hpp"
#include "device/owned_device_memory.hpp"
#include "host/watch/clock_comparison.hpp"
#include "pgas/detail/trace_area.hpp"

namespace pgas::detail {

/// The recorded operations. Operations have the same names as in failure records and in pgas-why.
struct kernel_tracks {
  /// A track for each thread that has recorded operations. Only the leaders of groups record.
  std::vector<trace::track> tracks;
  std::uint64_t lost = 0;
};

/// The device memory in which kernels record, and the difference between the kernels' clock and the host's clock.
class kernel_recording {
 public:
  /// @param every as config::trace_sample *Errors* device_failed
  kernel_recording(device& on, std::uint32_t every);

  /// The area, at the address that kernels use.
  [[nodiscard]] trace_area* area() const noexcept { return static_cast<trace_area*>(memory_.get()); }
  /// Called when recording begins, and when recording ends. *Errors* device_failed
  void compare_clock();
  /// The largest error of the times of take(), on the host's clock.
  [[nodiscard]] std::int64_t clock_error() const noexcept { return clock().error(); }
  /// Returns the records, with times of the host's clock.
  /// *Callers* one thread, when no kernel runs.
  /// @param direct whether a PE is a direct peer
  /// *Errors* device_failed
  [[nodiscard]] kernel_tracks take(const std::function<bool(int pe)>& direct);

 private:
  [[nodiscard]] clock_mapping clock() const noexcept;

  device& device_;
  device_block memory_;
  std::optional<clock_difference> begin_;  ///< empty if the kernels use the host's clock
  std::optional<clock_difference> end_;
};

}  // namespace pgas::detail
