/// @file
/// Waits for many descriptors at once and calls what was registered for each. Used by the two servers: rank 0 of a TCP
/// world and pgasrun.
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/deadline.hpp"
#include "common/unique_fd.hpp"

namespace pgas::boot {

using namespace detail;  // of src/common

/// *Callers* one thread, the one that runs the loop; post() may be called by any.
class event_loop {
 public:
  using handler = std::function<void(short revents)>;

  event_loop();

  /// Calls `react` whenever `fd` shows one of `events`, an error or a hang-up. The descriptor stays the caller's.
  void watch(int fd, short events, handler react);
  /// Changes the events of a watched descriptor.
  void change(int fd, short events);
  /// Stops watching; to be called before the descriptor is closed. Allowed inside any handler.
  void forget(int fd);

  /// Has `work` done by the loop's thread at its next turn, or destroyed where the loop has ended.
  void post(std::function<void()> work);
  /// Says that the loop will not run again, so that nobody waits for what was posted.
  void end();

  /// Waits for events, at most until `wake`, and handles them.
  void run_once(std::optional<clock::time_point> wake);

 private:
  struct watcher {
    short events;
    std::uint64_t number;  // tells a descriptor from a later one that got the same value
    std::shared_ptr<handler> react;
  };

  std::unordered_map<int, watcher> watchers_;
  std::uint64_t next_number_ = 0;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
  bool ended_ = false;
  unique_fd bell_;
};

}  // namespace pgas::boot
