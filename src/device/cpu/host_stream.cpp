#include "device/cpu/host_stream.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "pgas/detail/isa/ptx_memory.hpp"

namespace pgas::detail {

namespace {

/// A thread on which the application's signal handlers do not run.
std::thread start_quietly(std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(std::move(body));
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::pthread_setname_np(thread.native_handle(), "pgas-stream");
    return thread;
  } catch (const std::system_error& why) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw error(code::system, fmt::format("starting the thread of a stream: {}; look at ulimit -u and -v", why.what()));
  }
}

/// What a task has thrown, as a pgas::error.
error current_failure() {
  try {
    throw;
  } catch (const error& failed) {
    return failed;
  } catch (const thread_ended&) {
    return error(code::device_failed, "a kernel on the CPU ended early");
  } catch (const std::bad_alloc&) {
    return error(code::out_of_memory, "a task on the CPU found no memory");
  } catch (const std::exception& other) {
    return error(code::device_failed, fmt::format("a kernel on the CPU threw: {}", other.what()));
  } catch (...) {
    return error(code::device_failed, "a kernel on the CPU threw something that is not an exception");
  }
}

}  // namespace

host_stream::~host_stream() {
  std::unique_lock lock(mutex_);
  for_waiters_.wait(lock, [this] { return done_ == enqueued_; });
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
    for_waiters_.wait(lock, [&] { return done_ >= ticket; });
  }
  if (failed) throw error(*failed);
}

void host_stream::wait() {
  std::unique_lock lock(mutex_);
  const std::uint64_t ticket = enqueued_;
  for_waiters_.wait(lock, [&] { return done_ >= ticket; });
  if (failure_) {
    const error first = *failure_;
    failure_.reset();
    throw error(first);
  }
}

std::uint64_t host_stream::enqueue(task work, place where) {
  std::unique_lock lock(mutex_);
  const std::uint64_t ticket = enqueued_ + 1;
  if (where == place::here_if_idle && !busy_ && queue_.empty()) {
    enqueued_ = ticket;
    execute(work, lock);
    return ticket;
  }
  if (!worker_.joinable()) worker_ = start_quietly([this] { work_until_stopped(); });
  queue_.push_back(std::move(work));
  enqueued_ = ticket;
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
  ++done_;
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
