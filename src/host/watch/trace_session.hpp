/// @file
/// The trace of one PE of a world: the recorder of its events, and the file that PGAS_TRACE names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/trace/recorder.hpp"
#include "common/unique_fd.hpp"
#include "host/exchange/control_group.hpp"
#include "host/log/logger.hpp"
#include "host/watch/clock_comparison.hpp"
#include "host/watch/trace_kernels.hpp"

namespace pgas::detail {

class trace_session {
 public:
  /// Creates the file, so that a wrong name is an error before any event is recorded.
  /// @param pattern PGAS_TRACE
  /// *Errors* config_value.
  trace_session(const std::string& pattern, int pe, int n_pes);

  /// The recorder of events, until write().
  [[nodiscard]] trace::recorder& events() noexcept { return events_; }

  /// Makes the area for the records of kernels that are compiled with PGAS_TRACE. The result is the address that
  /// kernels use.
  /// @param every as config::trace_sample
  /// *Errors* device_failed
  [[nodiscard]] detail::trace_area* make_area(device& on, std::uint32_t every);

  /// Adds a comparison of clocks. Called when recording begins, and when recording ends. *Errors* device_failed
  void compared(const clock_comparison& clocks);

  /// Ends recording and writes the file. Called once. If recording has not begun, no file is written.
  /// @param direct whether a PE is a direct peer
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
