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

/// Begins the end of this process: it ends with this status in 0.7 s at most, whatever its threads hold or wait for.
/// Returns in the first thread that calls it, also when that thread calls it again; other threads stop here.
void begin_end(int status) noexcept;

/// Whether this thread ends the process, or runs exit() while another thread does. All others stop here then.
[[nodiscard]] bool is_ending() noexcept;

/// From now on end_process() knows whether the calling thread runs exit(). Does nothing but in the main thread: others
/// may end without it.
void watch_exit() noexcept;

/// For an exit handler with this status: goes on with the status of begin_end(), if another thread has called that.
void take_end_status(int status) noexcept;

/// Ends this process as exit() does: its output is flushed, its exit handlers and static destructors run. Where the
/// main thread runs them already, it goes on, with this status. Streams that another thread holds, and handlers that do
/// not return, delay it no longer than begin_end() says; a warning then names what may be lost.
[[noreturn]] void end_process(int status) noexcept;

/// Ends this process if `failure` carries another PE's exit_reason(). Returns in the thread that ends the process
/// already: its exit handlers may call the library.
void exit_if_requested(const error& failure) noexcept;

/// A thread that checks the world every 50 ms, and ends this process once another PE has called global_exit, or its
/// device has failed. So PEs that never call the library again end as well.
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
