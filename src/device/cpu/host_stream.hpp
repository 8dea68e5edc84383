/// @file
/// An in-order queue of work on the CPU.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "pgas/error.hpp"

namespace pgas::detail {

/// The progress of a stream. It can outlive the stream.
struct host_progress {
  std::atomic<std::uint64_t> enqueued{0};
  std::atomic<std::uint64_t> done{0};
};

/// Runs tasks one after another on a thread of its own, which is started when it is first needed. *Callers* any thread.
class host_stream {
 public:
  using task = std::function<void()>;
  /// Where a task may run: one that is short and waits for nobody runs at once on the calling thread if the stream is
  /// idle, which spares two changes of thread.
  enum class place { worker, here_if_idle };

  host_stream();
  /// Waits for all tasks; a pending error is dropped.
  ~host_stream();
  host_stream(const host_stream&) = delete;
  host_stream& operator=(const host_stream&) = delete;

  /// *Errors* system when the thread can't be started; an exception of the task is kept for wait().
  void run(task work, place where);
  /// Runs a task in order and returns when it is done. *Errors* the task's exception.
  void run_and_wait(const task& work);
  /// Returns when everything enqueued before is done. *Errors* the first that a task left since the last wait().
  void wait();
  /// *Errors* what wait() would throw, which keeps it.
  void check();
  /// Whether everything enqueued is done.
  [[nodiscard]] bool idle() const noexcept { return progress_->done == progress_->enqueued; }

 private:
  [[nodiscard]] std::uint64_t enqueue(task work, place where);
  void execute(const task& work, std::unique_lock<std::mutex>& lock);
  void work_until_stopped();

  std::mutex mutex_;  ///< guards everything
  std::condition_variable for_worker_;
  std::condition_variable for_waiters_;
  std::deque<task> queue_;
  std::shared_ptr<host_progress> progress_ = std::make_shared<host_progress>();
  bool busy_ = false;  ///< a task is running, on whatever thread
  bool stop_ = false;
  std::optional<error> failure_;
  std::thread worker_;
};

}  // namespace pgas::detail
