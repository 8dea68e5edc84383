/// @file
/// One PE ends the processes of all: by shmem_global_exit, nvshmem_global_exit, or a function that fails and has no
/// status.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "pgas/world.hpp"

namespace pgas::capi {

/// The reason to abort a world with where `function` ends all, which carries the exit status to the other PEs.
[[nodiscard]] std::string exit_reason(std::string_view function, int status);

/// Ends this process at once, after what it has printed is written; no destructors run, as these may wait for others.
[[noreturn]] void end_process(int status) noexcept;

/// Ends this process if `failure`, which a call has thrown, is another PE's wish to end all.
void end_if_asked(const error& failure) noexcept;

/// Looks at the world now and then, from a thread of its own, and ends this process when another PE has asked for that.
/// PEs that never call the library again end so as well.
class exit_watch {
 public:
  /// Begins; the world must stand until the watch is destroyed.
  explicit exit_watch(const world& watched);
  ~exit_watch();
  exit_watch(const exit_watch&) = delete;
  exit_watch& operator=(const exit_watch&) = delete;

 private:
  void run();

  const world& watched_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace pgas::capi
