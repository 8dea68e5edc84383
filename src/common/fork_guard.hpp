/// @file
/// Detects a child of fork(). A child has copies of its parent's objects, but none of its parent's threads.
#pragma once

#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace pgas::detail {

/// An object records the process that constructs the object.
class fork_guard {
 public:
  fork_guard() noexcept : generation_(generation().load(std::memory_order_relaxed)), pid_(::getpid()) {}

  /// Whether the calling process is the recorded process, and not a child of the recorded process. Costs one load and
  /// no system call.
  [[nodiscard]] bool in_creator() const noexcept { return generation_ == generation().load(std::memory_order_relaxed); }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  /// The number of forks between the process that loaded the library and the calling process.
  static std::atomic<std::uint64_t>& generation() noexcept {
    static std::atomic<std::uint64_t> count{0};
    [[maybe_unused]] static const int counted =
        ::pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1, std::memory_order_relaxed); });
    return count;
  }

  std::uint64_t generation_;
  pid_t pid_;
};

}  // namespace pgas::detail
