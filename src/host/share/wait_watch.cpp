#include "host/share/wait_watch.hpp"

#include <algorithm>
#include <chrono>
#include <new>

#include "common/system_error.hpp"
#include "common/thread.hpp"
#include "common/unforked_fd.hpp"

namespace pgas::detail {

namespace {

/// The end of a process is reported within a second. This interval leaves time for the check itself.
constexpr std::chrono::milliseconds between_looks{200};

}  // namespace

std::shared_ptr<wait_watch> wait_watch::of_process() {
  struct known {
    std::mutex mutex;
    std::weak_ptr<wait_watch> watch;
  };
  auto& now = of_this_process<known>();
  const std::lock_guard lock(now.mutex);
  std::shared_ptr<wait_watch> watch = now.watch.lock();
  if (watch == nullptr) {
    watch = std::make_shared<wait_watch>();
    now.watch = watch;
  }
  return watch;
}

wait_watch::wait_watch() : thread_(start_thread("pgas-watch", [this] { run(); })) {}

wait_watch::~wait_watch() {
  if (!owner_.in_creator()) {
    // The parent's thread does not exist in the child, so the child cannot join it. The destructor of a std::thread
    // that was not joined ends the process. Therefore an empty std::thread replaces the object.
    new (&thread_) std::thread;
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void wait_watch::add(watched& object) {
  const std::lock_guard lock(mutex_);
  objects_.push_back(&object);
}

void wait_watch::remove(watched& object) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(objects_, &object);
}

void wait_watch::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, between_looks, [this] { return stop_; }))
    for (watched* object : objects_) object->look();
}

}  // namespace pgas::detail
