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

/// The progress of a stream. This object can outlive the stream.
struct host_progress {
  std::atomic<std::uint64_t> enqueued{0};
  std::atomic<std::uint64_t> done{0};
};

/// Runs tasks one after another on a thread that belongs to the stream and is started when it is first needed.
/// *Callers* any thread.
class host_stream {
 public:
  using task = std::function<void()>;
  /// Where a task may run. A short task that waits for no other PE runs immediately on the calling thread if the stream
  /// is idle, which avoids two changes of thread.
  enum class place { worker, here_if_idle };

  host_stream();
  /// Waits for all tasks. A pending error is dropped.
  ~host_stream();
  host_stream(const host_stream&) = delete;
  host_stream& operator=(const host_stream&) = delete;

  /// *Errors* system if the thread cannot be started. An exception of the task is kept for wait().
  void run(task work, place where);
  /// Runs a task in order and returns when it is done. *Errors* the task's exception.
  void run_and_wait(const task& work);
  /// Waits until all enqueued tasks are done. *Errors* the first error of a task since the last wait().
  void wait();
  /// *Errors* the error that wait() would throw. wait() still throws it afterwards.
  void check();
  /// Whether all enqueued tasks are done.
  [[nodiscard]] bool idle() const noexcept { return progress_->done == progress_->enqueued; }

 private:
  [[nodiscard]] std::uint64_t enqueue(task work, place where);
  void execute(const task& work, std::unique_lock<std::mutex>& lock);
  void work_until_stopped();

  std::mutex mutex_;  ///< guards all members
  std::condition_variable for_worker_;
  std::condition_variable for_waiters_;
  std::deque<task> queue_;
  std::shared_ptr<host_progress> progress_ = std::make_shared<host_progress>();
  bool busy_ = false;  ///< whether a task is running, on any thread
  bool stop_ = false;
  std::optional<error> failure_;
  std::thread worker_;
};

}  // namespace pgas::detail
