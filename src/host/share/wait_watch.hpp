/// @file
/// Supervises waits that run on a GPU. Only a value of the awaited word can end such a wait. Used by timelines and
/// interprocess events.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/fork_guard.hpp"

namespace pgas::detail {

/// An object whose waits run on a GPU.
class watched {
 public:
  watched() = default;
  virtual ~watched() = default;
  watched(const watched&) = delete;
  watched& operator=(const watched&) = delete;
  /// Called several times a second by the thread of the watch. Must not throw.
  virtual void look() noexcept = 0;
};

/// A thread that runs while any object uses it. One per process. *Callers* any thread.
class wait_watch {
 public:
  /// The watch of this process, started if it does not run. *Errors* system if the thread cannot be started.
  [[nodiscard]] static std::shared_ptr<wait_watch> of_process();

  wait_watch();
  /// Joins the thread. In a child of fork() the thread does not exist, and the destructor does nothing.
  ~wait_watch();
  wait_watch(const wait_watch&) = delete;
  wait_watch& operator=(const wait_watch&) = delete;

  /// Supervises the object until remove() is called. remove() returns when no check is running.
  void add(watched& object);
  void remove(watched& object) noexcept;

 private:
  void run();

  fork_guard owner_;
  std::mutex mutex_;  ///< guards the members below; held during checks
  std::condition_variable wake_;
  std::vector<watched*> objects_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace pgas::detail
