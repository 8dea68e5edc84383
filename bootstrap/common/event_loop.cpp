#include "bootstrap/common/event_loop.hpp"

#include <sys/eventfd.h>

#include <utility>

#include "common/system_error.hpp"

namespace pgas::boot {

event_loop::event_loop() : bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!bell_) throw_system("eventfd");
  watch(bell_.get(), POLLIN, [this](short) {
    eventfd_t rings = 0;
    ::eventfd_read(bell_.get(), &rings);
  });
}

void event_loop::watch(int fd, short events, handler react) {
  watchers_.insert_or_assign(fd, watcher{events, next_number_++, std::make_shared<handler>(std::move(react))});
}

void event_loop::change(int fd, short events) {
  if (const auto found = watchers_.find(fd); found != watchers_.end()) found->second.events = events;
}

void event_loop::forget(int fd) { watchers_.erase(fd); }

void event_loop::post(std::function<void()> work) {
  {
    const std::lock_guard lock{mutex_};
    if (ended_) return;
    posted_.push_back(std::move(work));
  }
  ::eventfd_write(bell_.get(), 1);
}

void event_loop::end() {
  std::vector<std::function<void()>> never_done;  // destroyed without the lock
  const std::lock_guard lock{mutex_};
  ended_ = true;
  never_done.swap(posted_);
}

void event_loop::run_once(std::optional<clock::time_point> wake) {
  std::vector<pollfd> waiting;
  std::vector<std::uint64_t> numbers;
  waiting.reserve(watchers_.size());
  numbers.reserve(watchers_.size());
  for (const auto& [fd, watched] : watchers_) {
    waiting.push_back({.fd = fd, .events = watched.events, .revents = 0});
    numbers.push_back(watched.number);
  }

  int limit_ms = -1;
  if (wake) limit_ms = static_cast<int>(deadline{std::chrono::ceil<milliseconds>(*wake - clock::now())}.left().count());
  if (::poll(waiting.data(), waiting.size(), limit_ms) > 0) {
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents == 0) continue;
      const auto found = watchers_.find(waiting[i].fd);
      if (found == watchers_.end() || found->second.number != numbers[i]) continue;  // an earlier handler removed it
      const std::shared_ptr<handler> react = found->second.react;
      (*react)(waiting[i].revents);
    }
  }

  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock{mutex_};
    work.swap(posted_);
  }
  for (const auto& item : work) item();
}

}  // namespace pgas::boot
