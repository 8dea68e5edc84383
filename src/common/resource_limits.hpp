/// @file
/// Limits of the process: on its descriptors, and on the size of files, which includes shared memory.
#pragma once

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "pgas/error.hpp"

namespace pgas::detail {

/// Raises the limit on descriptors for a job of `processes` processes, as far as this process is allowed. For each
/// other process, a process needs one or two sockets, a pidfd if the other process is on this host, the sockets of UCX
/// over TCP, and on the host heap a descriptor for each segment. Programs with select() rely on the usual low limit, so
/// the function raises the limit only if necessary. If the limit stays too low, the call that fails reports it.
inline void allow_descriptors_for(int processes) noexcept {
  const auto needed = static_cast<rlim_t>(256 + 9 * processes);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  limit.rlim_cur = std::min(needed, limit.rlim_max);
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

/// During the lifetime of the object, a write that exceeds the file size limit fails with EFBIG. Without the object,
/// the operating system sends SIGXFSZ to the thread. By default this signal ends the process.
class no_file_limit_signal {
 public:
  no_file_limit_signal() noexcept {
    ::sigemptyset(&it_);
    ::sigaddset(&it_, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &it_, &before_);
  }
  ~no_file_limit_signal() {
    if (::sigismember(&before_, SIGXFSZ) == 1) return;
    const timespec at_once{};
    static_cast<void>(::sigtimedwait(&it_, nullptr, &at_once));
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  no_file_limit_signal(const no_file_limit_signal&) = delete;
  no_file_limit_signal& operator=(const no_file_limit_signal&) = delete;

 private:
  sigset_t it_;
  sigset_t before_;
};

/// The error for EFBIG.
inline error file_limit_reached(std::size_t bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  return error(code::out_of_memory,
               fmt::format("{} bytes of shared memory were requested. The system counts shared memory as a file, and "
                           "this process may make files of at most {} bytes: raise the limit (ulimit -f)",
                           bytes, limit.rlim_cur));
}

}  // namespace pgas::detail
