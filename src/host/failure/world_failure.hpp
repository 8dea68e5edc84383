/// @file
/// The first failure of a world that this PE has detected or that another PE has reported.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "common/deadline.hpp"
#include "host/log/logger.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// *Callers* any thread.
class world_failure {
 public:
  using listener = std::function<void(const error&)>;

  /// @param on_failure called once, before failed() is true, so that a caller that catches the failure sees the effects
  /// @param spread called once, after on_failure: wakes the waiting threads and informs the other PEs
  /// @param no_memory the error of set_out_of_memory()
  world_failure(log::logger& log, listener on_failure, listener spread, error no_memory)
      : log_(log), on_failure_(std::move(on_failure)), spread_(std::move(spread)), no_memory_(std::move(no_memory)) {}

  /// Keeps, logs and spreads a failure. Has no effect after another failure or after close(). The PE that detects a
  /// failure logs it as an error.
  void set(const error& cause, log_level level = log_level::error) noexcept;
  void set_out_of_memory() noexcept { set(no_memory_); }
  /// From now on no event is a failure.
  void close() noexcept;

  /// Whether a failure was set. Its callback may still be running.
  [[nodiscard]] bool is_set() const noexcept { return now_ == state::failed; }
  [[nodiscard]] bool failed() const noexcept { return told_.load(std::memory_order_acquire); }
  /// The first failure. *Callers* after failed() has returned true.
  [[nodiscard]] const error& cause() const noexcept { return cause_; }
  [[nodiscard]] clock::time_point at() const noexcept { return at_; }
  /// Throws the first failure, if the world has failed.
  void check() const {
    if (failed()) throw error(cause_);
  }

 private:
  enum class state { open, failed, closed };

  log::logger& log_;
  const listener on_failure_;
  const listener spread_;
  const error no_memory_;
  std::atomic<state> now_{state::open};
  std::atomic<bool> told_{false};
  error cause_{code::system, ""};  ///< cause_ and at_ are written once, before told_ is set
  clock::time_point at_{};
};

}  // namespace pgas::detail
