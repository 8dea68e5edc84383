/// @file
/// The warning of a long wait that belongs to no world. Used by the timeline and the interprocess event.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace pgas::detail {

/// One wait at a time. *Callers* one thread at a time.
class wait_alarm {
 public:
  /// The wait goes on. Once it has lasted for PGAS_WAIT_WARNING, a warning is logged. @param says what waits for what,
  /// from the time in words
  template <class Says>
  void look(const Says& says) {
    if (is_due()) warn(says(lasted()));
  }
  /// The wait has ended, or has come further: the next look is the first of another wait.
  void restart() noexcept { *this = {}; }

 private:
  [[nodiscard]] bool is_due() noexcept;
  /// "61.2 s"
  [[nodiscard]] std::string lasted() const;
  void warn(const std::string& text) noexcept;

  std::optional<std::chrono::steady_clock::time_point> began_;
  std::optional<std::chrono::milliseconds> limit_;  ///< read once the wait has lasted for a while
  bool warned_ = false;
};

}  // namespace pgas::detail
