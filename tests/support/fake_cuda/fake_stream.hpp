/// @file
/// Streams and events of the fake driver.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace fake_cuda {

/// An in-order queue of work. A thread of the stream executes the work, and ends when the stream is closed and empty.
class stream : public std::enable_shared_from_this<stream> {
 public:
  bool is_legacy = false;
  bool waits_for_legacy = false;  ///< set for streams that are created without CU_STREAM_NON_BLOCKING

  static std::shared_ptr<stream> make() {
    auto result = std::make_shared<stream>();
    std::thread([result] { result->work(); }).detach();
    return result;
  }
  void enqueue(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      ++enqueued_;
    }
    changed_.notify_one();
  }
  /// Enqueues a wait until `reached` returns true.
  void enqueue_wait(std::function<bool()> reached) {
    enqueue([reached = std::move(reached)] {
      while (!reached()) std::this_thread::sleep_for(std::chrono::microseconds(20));
    });
  }
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_one();
  }
  [[nodiscard]] std::uint64_t enqueued() const noexcept { return enqueued_; }
  [[nodiscard]] bool has_done(std::uint64_t count) const noexcept { return done_ >= count; }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      ++done_;
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool closed_ = false;
  std::atomic<std::uint64_t> enqueued_{0};
  std::atomic<std::uint64_t> done_{0};
};

/// The work of one or more streams up to a point in time.
class event {
 public:
  void record(std::vector<std::shared_ptr<stream>> streams) {
    std::vector<std::pair<std::shared_ptr<stream>, std::uint64_t>> work;
    for (std::shared_ptr<stream>& each : streams) work.emplace_back(each, each->enqueued());
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
  }
  /// A function that tells whether the work that is recorded now is done.
  [[nodiscard]] std::function<bool()> passed() const {
    const std::lock_guard lock(mutex_);
    return [work = work_] {
      for (const auto& [from, count] : work)
        if (!from->has_done(count)) return false;
      return true;
    };
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<std::shared_ptr<stream>, std::uint64_t>> work_;
};

}  // namespace fake_cuda
