/// @file
/// The warning about a long wait outside of a world. Timelines and interprocess events use it.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace pgas::detail {

/// Supervises one wait at a time. *Callers* one thread at a time.
class wait_alarm {
 public:
  /// Called repeatedly during a wait. Logs a warning when the wait has lasted for PGAS_WAIT_WARNING.
  /// @param says returns the text of the warning; its argument is the time in words
  template <class Says>
  void look(const Says& says) {
    if (is_due()) warn(says(lasted()));
  }
  /// Called when the wait has ended or has made progress. The next look() starts another wait.
  void restart() noexcept { *this = {}; }

 private:
  [[nodiscard]] bool is_due() noexcept;
  /// "61.2 s"
  [[nodiscard]] std::string lasted() const;
  void warn(const std::string& text) noexcept;

  std::optional<std::chrono::steady_clock::time_point> began_;
  std::optional<std::chrono::milliseconds> limit_;  ///< read after the wait has lasted for a while
  bool warned_ = false;
};

}  // namespace pgas::detail
