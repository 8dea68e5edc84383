/// @file
/// The durations of the steps of one operation, for a line of the log. Code of any layer can end a step. While no
/// measurement runs, the end of a step only reads a thread-local variable.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>

namespace pgas::detail {

/// Measures the steps of its thread from construction to destruction. Objects may be nested; only the innermost object
/// measures.
class step_times {
 public:
  step_times() noexcept : outer_(current()), begin_(clock::now()), last_(begin_) { current() = this; }
  ~step_times() { current() = outer_; }
  step_times(const step_times&) = delete;
  step_times& operator=(const step_times&) = delete;

  /// Ends a step. Its duration is the time since the previous step ended.
  static void lap(std::string_view name) {
    if (step_times* const now = current()) now->add(name);
  }
  /// The steps in their order: "total 91.3 us: connect 12.0, answer 30.1".
  [[nodiscard]] std::string text() const {
    return fmt::format("total {:.1f} us:{}", microseconds(last_ - begin_), steps_);
  }

 private:
  using clock = std::chrono::steady_clock;

  static step_times*& current() noexcept {
    static thread_local step_times* innermost = nullptr;
    return innermost;
  }
  static double microseconds(clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }
  void add(std::string_view name) {
    const clock::time_point now = clock::now();
    steps_ += fmt::format("{} {} {:.1f}", steps_.empty() ? "" : ",", name, microseconds(now - last_));
    last_ = now;
  }

  step_times* outer_;
  clock::time_point begin_;
  clock::time_point last_;
  std::string steps_;
};

}  // namespace pgas::detail
