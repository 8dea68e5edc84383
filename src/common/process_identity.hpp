/// @file
/// Which process it is: a child of fork() has copies of its parent's objects and no threads, and the kernel uses the
/// numbers of processes again.
#pragma once

#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace pgas::detail {

/// Remembers the process that has made it.
class fork_guard {
 public:
  fork_guard() noexcept : generation_(generation().load(std::memory_order_relaxed)), pid_(::getpid()) {}

  /// Whether this is that process, and not one that fork() has made of it. Costs a load, not a system call.
  [[nodiscard]] bool in_creator() const noexcept { return generation_ == generation().load(std::memory_order_relaxed); }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  /// The number of forks between the process that loaded the library and this one.
  static std::atomic<std::uint64_t>& generation() noexcept {
    static std::atomic<std::uint64_t> count{0};
    [[maybe_unused]] static const int counted =
        ::pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1, std::memory_order_relaxed); });
    return count;
  }

  std::uint64_t generation_;
  pid_t pid_;
};

/// When process `pid` of this namespace was started, in clock ticks after boot: with the number it names one process
/// for as long as the machine runs. 0 where there is none, or no /proc. *Errors* code::system where this process may
/// open no more files.
[[nodiscard]] std::uint64_t process_start(pid_t pid);

/// A process that a message or a file names still runs, as far as this one can see.
[[nodiscard]] inline bool still_runs(pid_t pid, std::uint64_t start) { return process_start(pid) == start; }

}  // namespace pgas::detail
