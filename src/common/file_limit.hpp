/// @file
/// The limit on the size of files, which holds for shared memory, too.
#pragma once

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstddef>
#include <string>

#include "pgas/error.hpp"

namespace pgas::detail {

/// During its lifetime a file that would exceed the limit is refused with EFBIG. Otherwise the kernel sends SIGXFSZ to
/// the thread, which by default ends the process.
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
  return error(
      code::out_of_memory,
      fmt::format("{} bytes of shared memory were asked for, which is a file to the system, and this process may "
                  "make files of {} bytes at most: raise the limit (ulimit -f)",
                  bytes, limit.rlim_cur));
}

}  // namespace pgas::detail
