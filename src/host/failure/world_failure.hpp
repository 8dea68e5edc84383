/// @file
/// The first failure of a world that this PE has detected or that another PE has reported.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

#include "common/deadline.hpp"
#include "host/log/logger.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// *Callers* any thread.
class world_failure {
 public:
  using listener = std::function<void(const error&)>;

  /// The steps of a failure, in their order. Each step is called once.
  struct steps {
    /// Sends the failure to the other PEs. Takes a bounded time. A thread that observes a failure can end the process
    /// immediately, so nothing shows the failure before this step has ended.
    listener tell_peers;
    listener on_failure;         ///< shows the failure to the device, before failed() is true
    std::function<void()> wake;  ///< wakes the waiting threads, after failed() is true
  };

  /// @param no_memory the error of set_out_of_memory()
  world_failure(log::logger& log, steps in_order, error no_memory)
      : log_(log), steps_(std::move(in_order)), no_memory_(std::move(no_memory)) {}

  /// Keeps, sends and logs a failure. Has no effect after another failure or after close(). The PE that detects a
  /// failure logs it as an error. On return, the other PEs have been told of the first failure, and failed() is true.
  void set(const error& cause, log_level level = log_level::error) noexcept;
  void set_out_of_memory() noexcept { set(no_memory_); }
  /// From now on no event is a failure.
  void close() noexcept;

  /// Whether a failure was set. The program does not observe the failure before failed() is true.
  [[nodiscard]] bool is_set() const noexcept { return now_ == state::failed; }
  [[nodiscard]] bool failed() const noexcept { return told_.load(std::memory_order_acquire); }
  /// The first failure. *Callers* after failed() has returned true.
  [[nodiscard]] const error& cause() const noexcept { return cause_; }
  [[nodiscard]] clock::time_point at() const noexcept { return at_; }
  /// Throws the first failure, if one was set. Waits until failed() is true.
  void check() const;

 private:
  enum class state { open, failed, closed };

  log::logger& log_;
  const steps steps_;
  const error no_memory_;
  mutable std::mutex setting_;  ///< the thread that sets the cause holds the lock until failed() is true; threads with
                                ///< later failures wait for the lock
  std::atomic<state> now_{state::open};
  std::atomic<bool> told_{false};
  error cause_{code::system, ""};  ///< cause_ and at_ are written once, before told_ is set
  clock::time_point at_{};
};

}  // namespace pgas::detail
