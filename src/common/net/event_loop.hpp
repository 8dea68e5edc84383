/// @file
/// Waits for many descriptors at the same time and calls the handler of each ready descriptor. Used by rank 0 of a TCP
/// world, pgasrun, and the control plane.
#pragma once

#include <poll.h>
#include <sys/eventfd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/deadline.hpp"
#include "common/fork_guard.hpp"
#include "common/unique_fd.hpp"

namespace pgas::detail {

/// The cost of a turn depends on the number of ready descriptors, and not on the number of watched descriptors (epoll).
/// *Callers* the thread that runs the loop; for post(), end() and wake(), any thread.
class event_loop {
 public:
  using handler = std::function<void(short revents)>;

  /// *Errors* system.
  event_loop();

  /// Calls `react` whenever `fd` shows one of `events`, an error or a hang-up. Replaces an earlier watch of the
  /// descriptor. The caller still owns the descriptor. *Errors* system.
  void watch(int fd, short events, handler react);
  /// Changes the events of a watched descriptor, and ends a pause of the descriptor.
  void change(int fd, short events);
  /// Ignores the events of a watched descriptor for a time, and then watches for the same events again. A listener that
  /// cannot accept a connection, because descriptors or memory are missing, stays readable. Without a pause the loop
  /// would spin.
  void pause(int fd, milliseconds time);
  /// Stops watching a descriptor. Called before the descriptor is closed. Any handler may call the function.
  void forget(int fd);

  /// Runs `work` on the loop's thread in the next turn. Destroys `work` if the loop has ended.
  void post(std::function<void()> work);
  /// Declares that the loop will not run again, so that no thread waits for posted work.
  void end();

  /// Makes run_once() return soon. Allocates no memory.
  void wake() noexcept { ::eventfd_write(bell_.get(), 1); }

  /// Waits for events, at most until `wake`, and handles them. Allocates nothing. *Errors* system; the errors of
  /// handlers.
  void run_once(std::optional<clock::time_point> wake);

 private:
  struct watched {
    std::shared_ptr<handler> react;
    short events = 0;                         ///< the watched events; the kernel has 0 during a pause
    std::uint32_t generation = 0;             ///< differs for descriptors that have the same number one after another
    bool plain = false;                       ///< a regular file: always ready, and refused by epoll
    std::optional<clock::time_point> paused;  ///< the end of the pause
  };

  /// The entry of a descriptor; null if the descriptor is not watched.
  [[nodiscard]] watched* find(int fd);
  void set_events(int operation, int fd, watched& one, short events);
  void call(int fd, std::uint32_t generation, short revents);

  const fork_guard owner_;  ///< a child of fork() shares the kernel's epoll object and must not change it
  unique_fd epoll_;
  std::unordered_map<int, watched> watched_;
  std::vector<int> plain_;
  std::vector<int> paused_;
  std::uint32_t generations_ = 0;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
  bool ended_ = false;
  unique_fd bell_;
};

}  // namespace pgas::detail
