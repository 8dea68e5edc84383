/// @file
/// One PE ends the processes of all: shmem_global_exit, nvshmem_global_exit, and functions without a status that fail.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "pgas/world.hpp"

namespace pgas::compat {

/// The reason to abort the world with; it carries the exit status to the other PEs.
[[nodiscard]] std::string exit_reason(std::string_view function, int status);

/// Flushes the output and ends this process. Runs no destructors, as these may wait for other PEs.
[[noreturn]] void end_process(int status) noexcept;

/// Ends this process if `failure` carries another PE's exit_reason().
void exit_if_requested(const error& failure) noexcept;

/// A thread that checks the world every 50 ms, and ends this process once another PE has called global_exit. So PEs
/// that never call the library again end as well.
class global_exit_monitor {
 public:
  /// Starts the thread; `joined` must outlive this object.
  explicit global_exit_monitor(const world& joined);
  ~global_exit_monitor();
  global_exit_monitor(const global_exit_monitor&) = delete;
  global_exit_monitor& operator=(const global_exit_monitor&) = delete;

 private:
  void run();

  const world& world_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace pgas::compat
