#include "common/net/event_loop.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/system_error.hpp"

namespace pgas::detail {

event_loop::event_loop() : bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!bell_) throw_system("eventfd");
  watch(bell_.get(), POLLIN, [this](short) {
    eventfd_t rings = 0;
    ::eventfd_read(bell_.get(), &rings);
  });
}

event_loop::watched* event_loop::find(int fd) {
  const auto found = std::ranges::find(polled_, fd, &pollfd::fd);
  return fd < 0 || found == polled_.end() ? nullptr : &watched_[static_cast<std::size_t>(found - polled_.begin())];
}

void event_loop::set_events(watched& one, short events) {
  polled_[static_cast<std::size_t>(&one - watched_.data())].events = events;
}

void event_loop::watch(int fd, short events, handler react) {
  forget(fd);
  watched_.push_back({std::make_shared<handler>(std::move(react)), events, std::nullopt});
  polled_.push_back({fd, events, 0});
}

void event_loop::change(int fd, short events) {
  watched* const one = find(fd);
  if (one == nullptr) return;
  one->events = events;
  one->paused.reset();
  set_events(*one, events);
}

void event_loop::pause(int fd, milliseconds time) {
  watched* const one = find(fd);
  if (one == nullptr) return;
  one->paused = clock::now() + time;
  set_events(*one, 0);
}

void event_loop::forget(int fd) {
  if (watched* const one = find(fd)) polled_[static_cast<std::size_t>(one - watched_.data())] = {-1, 0, 0};
}

void event_loop::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    posted_.push_back(std::move(work));
  }
  wake();
}

void event_loop::end() {
  std::vector<std::function<void()>> never_done;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  ended_ = true;
  never_done.swap(posted_);
}

void event_loop::run_once(std::optional<clock::time_point> wake) {
  // Forgotten entries go now, when no handler runs and no index is in use.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < polled_.size(); ++i) {
    if (polled_[i].fd < 0) continue;
    if (kept != i) {
      polled_[kept] = polled_[i];
      watched_[kept] = std::move(watched_[i]);
    }
    ++kept;
  }
  polled_.resize(kept);
  watched_.resize(kept);

  for (watched& one : watched_) {
    if (!one.paused) continue;
    if (clock::now() >= *one.paused) {
      one.paused.reset();
      set_events(one, one.events);
    } else if (!wake || *one.paused < *wake) {
      wake = one.paused;
    }
  }

  int limit_ms = -1;
  if (wake) limit_ms = static_cast<int>(deadline(std::chrono::ceil<milliseconds>(*wake - clock::now())).left().count());
  const int ready = ::poll(polled_.data(), polled_.size(), limit_ms);
  if (ready < 0 && errno != EINTR) throw_system("poll");
  // Handlers may watch more, which is for the next time, and forget any.
  for (std::size_t i = 0; ready > 0 && i < kept; ++i) {
    const short revents = std::exchange(polled_[i].revents, short{0});
    if (polled_[i].fd < 0 || revents == 0) continue;
    const std::shared_ptr<handler> react = watched_[i].react;
    (*react)(revents);
  }

  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock(mutex_);
    work.swap(posted_);
  }
  for (const auto& item : work) item();
}

}  // namespace pgas::detail
