#include "common/net/event_loop.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "common/system_error.hpp"

namespace pgas::detail {

static_assert(POLLIN == EPOLLIN && POLLOUT == EPOLLOUT && POLLERR == EPOLLERR && POLLHUP == EPOLLHUP &&
              POLLRDHUP == EPOLLRDHUP);

event_loop::event_loop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)), bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_) throw_system("epoll_create1");
  if (!bell_) throw_system("eventfd");
  watch(bell_.get(), POLLIN, [this](short) {
    eventfd_t rings = 0;
    ::eventfd_read(bell_.get(), &rings);
  });
}

event_loop::watched* event_loop::find(int fd) {
  const auto found = watched_.find(fd);
  return found == watched_.end() ? nullptr : &found->second;
}

void event_loop::set_events(int operation, int fd, watched& one, short events) {
  if (one.plain) return;
  epoll_event wanted{};
  wanted.events = static_cast<std::uint32_t>(events);
  wanted.data.u64 = std::uint64_t{one.generation} << 32 | static_cast<std::uint32_t>(fd);
  if (::epoll_ctl(epoll_.get(), operation, fd, &wanted) == 0) return;
  if (errno != EPERM) throw_system("epoll_ctl");
  one.plain = true;
  plain_.push_back(fd);
}

void event_loop::watch(int fd, short events, handler react) {
  forget(fd);
  watched& one = watched_[fd];
  one.react = std::make_shared<handler>(std::move(react));
  one.events = events;
  one.generation = ++generations_;
  try {
    set_events(EPOLL_CTL_ADD, fd, one, events);
  } catch (...) {
    watched_.erase(fd);
    throw;
  }
}

void event_loop::change(int fd, short events) {
  watched* const one = find(fd);
  if (one == nullptr || (one->events == events && !one->paused)) return;
  one->events = events;
  one->paused.reset();
  set_events(EPOLL_CTL_MOD, fd, *one, events);
}

void event_loop::pause(int fd, milliseconds time) {
  watched* const one = find(fd);
  if (one == nullptr) return;
  if (!one->paused) paused_.push_back(fd);
  one->paused = clock::now() + time;
  set_events(EPOLL_CTL_MOD, fd, *one, 0);
}

void event_loop::forget(int fd) {
  if (watched_.erase(fd) == 0) return;
  std::erase(plain_, fd);
  epoll_event none{};
  if (owner_.in_creator()) static_cast<void>(::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, &none));
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
  std::vector<std::function<void()>> never_done;  // the functions are destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  ended_ = true;
  never_done.swap(posted_);
}

void event_loop::call(int fd, std::uint32_t generation, short revents) {
  watched* const one = find(fd);
  if (one == nullptr || one->generation != generation) return;  // an earlier handler has forgotten the descriptor
  const std::shared_ptr<handler> react = one->react;
  (*react)(revents);
}

void event_loop::run_once(std::optional<clock::time_point> wake) {
  std::erase_if(paused_, [&](int fd) {
    watched* const one = find(fd);
    if (one == nullptr || !one->paused) return true;
    if (clock::now() < *one->paused) {
      if (!wake || *one->paused < *wake) wake = one->paused;
      return false;
    }
    one->paused.reset();
    set_events(EPOLL_CTL_MOD, fd, *one, one->events);
    return true;
  });
  const auto ready_file = [this](int fd) {
    const watched* const one = find(fd);
    return one != nullptr && one->events != 0 && !one->paused;
  };
  int limit_ms = -1;
  if (wake) limit_ms = static_cast<int>(deadline(std::chrono::ceil<milliseconds>(*wake - clock::now())).left().count());
  if (std::ranges::any_of(plain_, ready_file)) limit_ms = 0;

  std::array<epoll_event, 64> ready;
  const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), limit_ms);
  if (count < 0 && errno != EINTR) throw_system("epoll_wait");
  for (int i = 0; i < count; ++i) {
    const epoll_event& one = ready[static_cast<std::size_t>(i)];
    call(static_cast<int>(one.data.u64 & 0xffffffffu), static_cast<std::uint32_t>(one.data.u64 >> 32),
         static_cast<short>(one.events));
  }
  for (std::size_t i = 0; i < plain_.size(); ++i)  // by index, because a handler may change the list
    if (const int fd = plain_[i]; ready_file(fd)) call(fd, find(fd)->generation, find(fd)->events);

  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock(mutex_);
    work.swap(posted_);
  }
  for (const auto& item : work) item();
}

}  // namespace pgas::detail
