/// @file
/// The time line of one PE of a world: from its setting to its file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/trace/recorder.hpp"
#include "common/unique_fd.hpp"
#include "host/control/control_group.hpp"
#include "host/log/logger.hpp"
#include "host/watch/clock_comparison.hpp"
#include "host/watch/trace_kernels.hpp"

namespace pgas::detail {

class trace_session {
 public:
  /// Makes the file, so that a wrong name is an error before there is anything to lose. @param pattern PGAS_TRACE
  /// *Errors* config_value.
  trace_session(const std::string& pattern, int pe, int n_pes);

  /// Takes events from here on, until write().
  [[nodiscard]] trace::recorder& events() noexcept { return events_; }

  /// Room for what kernels record that are compiled with PGAS_TRACE, as they address it.
  /// @param every as config::trace_sample *Errors* device_failed
  [[nodiscard]] detail::trace_area* make_area(device& on, std::uint32_t every);

  /// The comparison of clocks when recording begins, or when it ends. *Errors* device_failed
  void compared(const clock_comparison& clocks);

  /// Ends recording, and writes the file. Once; where recording has not begun there is no file.
  /// @param direct whether a PE is reached by load and store
  void write(const peer_info& me, const std::function<bool(int pe)>& direct, log::logger& log) noexcept;

 private:
  const int pe_;
  const int n_pes_;
  std::string path_;
  unique_fd file_;
  trace::recorder events_;
  std::optional<kernel_recording> kernels_;
  std::optional<clock_comparison> begin_;
  std::optional<clock_comparison> end_;
};

}  // namespace pgas::detail
