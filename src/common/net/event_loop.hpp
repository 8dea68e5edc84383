/// @file
/// Waits for many descriptors at once and calls the handler of each that is ready. Used by rank 0 of a TCP world,
/// pgasrun, and the control plane's reader.
#pragma once

#include <poll.h>
#include <sys/eventfd.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/deadline.hpp"
#include "common/unique_fd.hpp"

namespace pgas::detail {

/// *Callers* one thread, the one that runs the loop; post() and end() may be called by any.
class event_loop {
 public:
  using handler = std::function<void(short revents)>;

  /// *Errors* system.
  event_loop();

  /// Calls `react` whenever `fd` shows one of `events`, an error or a hang-up. Replaces an earlier watch of the
  /// descriptor, which stays the caller's.
  void watch(int fd, short events, handler react);
  /// Changes the events of a watched descriptor, which is no longer paused.
  void change(int fd, short events);
  /// Ignores the events of a watched descriptor for a time, and then watches for the same events again. A listener that
  /// cannot accept, for want of descriptors or memory, stays readable: without a pause the loop would spin.
  void pause(int fd, milliseconds time);
  /// Stops watching; to be called before the descriptor is closed. Allowed inside any handler.
  void forget(int fd);

  /// Has `work` done by the loop's thread at its next turn, or destroyed where the loop has ended.
  void post(std::function<void()> work);
  /// Says that the loop will not run again, so that nobody waits for posted work.
  void end();

  /// Has run_once() return soon. Needs no memory.
  void wake() noexcept { ::eventfd_write(bell_.get(), 1); }

  /// Waits for events, at most until `wake`, and handles them. Allocates nothing. *Errors* system; those of handlers.
  void run_once(std::optional<clock::time_point> wake);

 private:
  struct watched {
    std::shared_ptr<handler> react;
    short events;                             ///< polled_ has 0 during a pause
    std::optional<clock::time_point> paused;  ///< until then
  };

  /// The watched descriptor, or null.
  [[nodiscard]] watched* find(int fd);
  void set_events(watched& one, short events);

  /// Entries of the same index belong to the same descriptor. A descriptor of -1 marks a forgotten entry.
  std::vector<pollfd> polled_;
  std::vector<watched> watched_;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
  bool ended_ = false;
  unique_fd bell_;
};

}  // namespace pgas::detail
