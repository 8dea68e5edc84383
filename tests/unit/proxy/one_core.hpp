/// @file
/// Runs all threads of the process on one core, so that the test shows the scheduler's decisions between them.
#pragma once

#include <dirent.h>
#include <sched.h>

#include <cstddef>
#include <cstdlib>

namespace pgas::testing {

/// While an object of this class exists, the threads of this process, and threads that they start, run on the first
/// core that the process may use.
class one_core {
 public:
  one_core() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t item;
    CPU_ZERO(&item);
    std::size_t first = 0;
    while (CPU_ISSET(first, &before_) == 0) ++first;
    CPU_SET(first, &item);
    set(item);
  }
  ~one_core() { set(before_); }
  one_core(const one_core&) = delete;
  one_core& operator=(const one_core&) = delete;

 private:
  static void set(const cpu_set_t& cores) {
    DIR* const threads = ::opendir("/proc/self/task");
    if (threads == nullptr) return;
    while (const dirent* const each = ::readdir(threads))
      if (const int id = std::atoi(each->d_name); id > 0) ::sched_setaffinity(id, sizeof cores, &cores);
    ::closedir(threads);
  }

  cpu_set_t before_{};
};

}  // namespace pgas::testing
