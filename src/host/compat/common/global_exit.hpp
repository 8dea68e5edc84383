/// @file
/// Lets one PE end the processes of all PEs: by shmem_global_exit, by nvshmem_global_exit, and by any function that
/// fails and has no status to return.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "pgas/world.hpp"

namespace pgas::compat {

/// The reason with which the world is aborted. The reason contains the exit status for the other PEs.
[[nodiscard]] std::string exit_reason(std::string_view function, int status);

/// Begins to end this process. The process ends with this status within 0.7 s, even if its threads hold locks or wait.
/// The function returns in the first thread that calls it, also when that thread calls it again. In other threads it
/// never returns.
void begin_end(int status) noexcept;

/// Whether this thread ends the process, or runs exit() while another thread ends the process. If the process is
/// ending, the function never returns in any other thread.
[[nodiscard]] bool is_ending() noexcept;

/// After this call, end_process() can detect that the calling thread runs exit(). Has an effect only in the main
/// thread, because another thread can end while the process continues.
void watch_exit() noexcept;

/// Called by an exit handler with the exit status. If another thread has called begin_end(), continues with the status
/// of that call.
void take_end_status(int status) noexcept;

/// Ends this process as exit() does: flushes its output, and runs exit handlers and static destructors. If the main
/// thread already runs the handlers, the main thread continues with this status. Streams that other threads have locked
/// and handlers that do not return can delay the end, but not beyond the time that begin_end() states. After such a
/// delay, a warning says that output may be lost.
[[noreturn]] void end_process(int status) noexcept;

/// Ends this process if `failure` carries another PE's exit_reason(). Returns in the thread that already ends the
/// process, because the exit handlers that this thread runs can call the library.
void exit_if_requested(const error& failure) noexcept;

/// A thread that checks the world every 50 ms. The thread ends this process when another PE has called global_exit, or
/// when the device of another PE has failed. Therefore PEs that never call the library again also end.
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
