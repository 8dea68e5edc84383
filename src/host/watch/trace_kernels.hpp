/// @file
/// The operations that kernels compiled with PGAS_TRACE have recorded, as tracks of the time line.
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

/// Their operations. Names are those of the operations, as in failure records and in what pgas-why says.
struct kernel_tracks {
  std::vector<trace::track> tracks;  ///< one for each thread of a block that recorded: leaders of groups
  std::uint64_t lost = 0;
};

/// Where kernels record, in memory of their device, and how their clock goes beside the host's.
class kernel_recording {
 public:
  /// @param every as config::trace_sample *Errors* device_failed
  kernel_recording(device& on, std::uint32_t every);

  /// As kernels address it.
  [[nodiscard]] trace_area* area() const noexcept { return static_cast<trace_area*>(memory_.get()); }
  /// When recording begins, and when it ends. *Errors* device_failed
  void compare_clock();
  /// How wrong the times of take() may be on the host's clock.
  [[nodiscard]] std::int64_t clock_error() const noexcept { return clock().error(); }
  /// What there is, with times of the host's clock. *Callers* one, once no kernel runs.
  /// @param direct whether a PE is reached by load and store *Errors* device_failed
  [[nodiscard]] kernel_tracks take(const std::function<bool(int pe)>& direct);

 private:
  [[nodiscard]] clock_mapping clock() const noexcept;

  device& device_;
  device_block memory_;
  std::optional<clock_difference> begin_;  ///< none where it is the host's clock
  std::optional<clock_difference> end_;
};

}  // namespace pgas::detail
