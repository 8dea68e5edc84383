#include "host/share/deferred_release.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "common/thread.hpp"
#include "common/unforked_fd.hpp"

namespace pgas::detail {

namespace {

using clock = std::chrono::steady_clock;

/// The longest time that an idle GPU needs to report that it is idle.
constexpr std::chrono::microseconds idle_answer{100};
constexpr std::chrono::milliseconds first_pause{1};
constexpr std::chrono::milliseconds longest_pause{100};

/// The object of this process for one kind of streams. Its thread stops before the process unloads the driver.
template <std::unique_ptr<enqueued_work> (*work)()>
deferred_release& of_process() {
  struct owned {
    deferred_release value{work};
  };
  struct end {
    ~end() { of_this_process<owned>().value.stop(); }
  };
  static const end at_exit;
  return of_this_process<owned>().value;
}

}  // namespace

deferred_release& deferred_release::of_host_streams() { return of_process<&work_of_host_streams>(); }
deferred_release& deferred_release::of_gpu_streams() { return of_process<&work_of_gpus>(); }
deferred_release& deferred_release::of_users_of(const sharing_description& memory) {
  return memory.way == sharing_way::memory_file ? of_host_streams() : of_gpu_streams();
}

deferred_release::~deferred_release() { stop(); }

bool deferred_release::streams_are_idle() const noexcept {
  try {
    const std::unique_ptr<enqueued_work> work = mark_();
    const auto end = clock::now() + idle_answer;
    do {
      if (work->has_passed()) return true;
    } while (clock::now() < end);
  } catch (const std::exception&) {
    // mark_() throws while a stream is being captured, or if no memory is left. A later call can succeed.
  }
  return false;
}

void deferred_release::drop(deferred_object* object) noexcept {
  if (!object->is_of_this_process()) return;
  // Destroys only `object` in this call, and no other dropped object: the caller can hold locks that the destruction of
  // other objects needs.
  if (kept() == 0 && streams_are_idle() && object->can_end())
    delete object;
  else
    keep(object);
}

void deferred_release::keep(deferred_object* object) noexcept {
  const std::lock_guard lock(mutex_);
  unmarked_.splice(unmarked_.end(), object->link_);
  ++kept_;
  news_ = true;
  wake_.notify_one();
  if (running_ || stopped_) return;
  try {
    if (thread_.joinable()) thread_.join();
    running_ = true;
    thread_ = start_thread("pgas-release", [this] { run(); });
  } catch (const std::exception&) {
    running_ = false;  // the next call of collect() destroys the object, or the next drop() starts the thread
  }
}

void deferred_release::collect() noexcept {
  objects ready;
  objects busy;
  {
    const std::lock_guard lock(mutex_);
    if (!unmarked_.empty()) {
      try {
        std::list<batch> next(1);
        next.front().mark = mark_();
        next.front().dropped.splice(next.front().dropped.end(), unmarked_);
        marked_.splice(marked_.end(), next);
      } catch (const std::exception&) {
        // mark_() has failed, as in streams_are_idle(). The next call tries again.
      }
    }
    for (auto item = marked_.begin(); item != marked_.end();) {
      if (!item->mark->has_passed()) {
        ++item;
        continue;
      }
      passed_.splice(passed_.end(), item->dropped);
      item = marked_.erase(item);
    }
    ready.swap(passed_);
  }
  for (auto at = ready.begin(); at != ready.end();) {
    const auto item = at++;
    if (!(*item)->can_end()) busy.splice(busy.end(), ready, item);
  }
  const std::size_t destroyed = ready.size();
  for (deferred_object* const object : ready) delete object;
  const std::lock_guard lock(mutex_);
  passed_.splice(passed_.end(), busy);
  kept_ -= destroyed;
}

bool deferred_release::await_all(std::chrono::milliseconds limit) noexcept {
  const auto end = clock::now() + limit;
  for (;;) {
    collect();
    if (kept() == 0) return true;
    if (clock::now() >= end) return false;
    std::this_thread::sleep_for(first_pause);
  }
}

std::size_t deferred_release::kept() const noexcept {
  const std::lock_guard lock(mutex_);
  return kept_;
}

void deferred_release::run() noexcept {
  auto pause = first_pause;
  for (;;) {
    collect();
    std::unique_lock lock(mutex_);
    if (stopped_ || kept_ == 0) {
      running_ = false;
      return;
    }
    pause = news_ ? first_pause : std::min(2 * pause, longest_pause);
    news_ = false;
    wake_.wait_for(lock, pause, [this] { return stopped_ || news_; });
  }
}

void deferred_release::stop() noexcept {
  std::thread last;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    last.swap(thread_);
  }
  wake_.notify_all();
  if (last.joinable()) last.join();
}

}  // namespace pgas::detail
