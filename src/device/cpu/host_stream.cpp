#include "device/cpu/host_stream.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "common/thread.hpp"
#include "common/unforked_fd.hpp"
#include "device/enqueued_work.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"

namespace pgas::detail {

namespace {

/// Converts the exception that a task has thrown, which is the current exception, to a pgas::error.
error current_failure() {
  try {
    throw;
  } catch (const error& failed) {
    return failed;
  } catch (const thread_ended&) {
    return error(code::device_failed, "a kernel on the CPU ended early");
  } catch (const std::bad_alloc&) {
    return error(code::out_of_memory, "a task on the CPU ran out of memory");
  } catch (const std::exception& other) {
    return error(code::device_failed, fmt::format("a kernel on the CPU threw: {}", other.what()));
  } catch (...) {
    return error(code::device_failed, "a kernel on the CPU threw something that is not an exception");
  }
}

/// The streams of this process.
class streams {
 public:
  static streams& of_process() { return of_this_process<streams>(); }
  void add(std::shared_ptr<const host_progress> item) {
    const std::lock_guard lock(mutex_);
    all_.insert(std::move(item));
  }
  void remove(const std::shared_ptr<const host_progress>& item) noexcept {
    const std::lock_guard lock(mutex_);
    all_.erase(item);
  }
  template <class Visit>
  void for_each(Visit&& visit) {
    const std::lock_guard lock(mutex_);
    for (const auto& item : all_) visit(item);
  }

 private:
  std::mutex mutex_;
  std::set<std::shared_ptr<const host_progress>> all_;
};

class host_work final : public enqueued_work {
 public:
  host_work() {
    streams::of_process().for_each([this](const std::shared_ptr<const host_progress>& item) {
      const std::uint64_t until = item->enqueued;
      if (item->done < until) under_way_.push_back({item, until});
    });
  }
  [[nodiscard]] bool has_passed() override {
    while (!under_way_.empty() && under_way_.back().stream->done >= under_way_.back().until) under_way_.pop_back();
    return under_way_.empty();
  }

 private:
  struct part {
    std::shared_ptr<const host_progress> stream;
    std::uint64_t until;
  };
  std::vector<part> under_way_;
};

}  // namespace

std::unique_ptr<enqueued_work> work_of_host_streams() { return std::make_unique<host_work>(); }

host_stream::host_stream() { streams::of_process().add(progress_); }

host_stream::~host_stream() {
  std::unique_lock lock(mutex_);
  for_waiters_.wait(lock, [this] { return progress_->done == progress_->enqueued; });
  streams::of_process().remove(progress_);
  stop_ = true;
  for_worker_.notify_all();
  lock.unlock();
  if (worker_.joinable()) worker_.join();
}

void host_stream::run(task work, place where) { static_cast<void>(enqueue(std::move(work), where)); }

void host_stream::run_and_wait(const task& work) {
  std::optional<error> failed;
  const std::uint64_t ticket = enqueue(
      [&] {
        try {
          work();
        } catch (...) {
          failed = current_failure();
        }
      },
      place::here_if_idle);
  {
    std::unique_lock lock(mutex_);
    for_waiters_.wait(lock, [&] { return progress_->done >= ticket; });
  }
  if (failed) throw error(*failed);
}

void host_stream::wait() {
  std::unique_lock lock(mutex_);
  const std::uint64_t ticket = progress_->enqueued;
  for_waiters_.wait(lock, [&] { return progress_->done >= ticket; });
  if (failure_) {
    const error first = *failure_;
    failure_.reset();
    throw error(first);
  }
}

void host_stream::check() {
  const std::lock_guard lock(mutex_);
  if (failure_) throw error(*failure_);
}

std::uint64_t host_stream::enqueue(task work, place where) {
  std::unique_lock lock(mutex_);
  const std::uint64_t ticket = progress_->enqueued + 1;
  if (where == place::here_if_idle && !busy_ && queue_.empty()) {
    progress_->enqueued = ticket;
    execute(work, lock);
    return ticket;
  }
  if (!worker_.joinable()) worker_ = start_thread("pgas-stream", [this] { work_until_stopped(); });
  queue_.push_back(std::move(work));
  progress_->enqueued = ticket;
  for_worker_.notify_one();
  return ticket;
}

void host_stream::execute(const task& work, std::unique_lock<std::mutex>& lock) {
  busy_ = true;
  lock.unlock();
  std::optional<error> failed;
  try {
    work();
  } catch (...) {
    failed = current_failure();
  }
  lock.lock();
  busy_ = false;
  ++progress_->done;
  if (failed && !failure_) failure_ = failed;
  for_waiters_.notify_all();
  if (!queue_.empty()) for_worker_.notify_one();
}

void host_stream::work_until_stopped() {
  std::unique_lock lock(mutex_);
  for (;;) {
    for_worker_.wait(lock, [this] { return stop_ || (!busy_ && !queue_.empty()); });
    if (stop_) return;
    const task next = std::move(queue_.front());
    queue_.pop_front();
    execute(next, lock);
  }
}

}  // namespace pgas::detail
