/// @file
/// One started PE: how it is started, and how it ended.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "common/deadline.hpp"
#include "common/unique_fd.hpp"

namespace pgas::boot {

using namespace detail;  // of src/common

struct pe_process {
  int rank = -1;
  pid_t pid = -1;      ///< also the number of its process group
  unique_fd requests;  ///< our end of the socket that it inherits
  unique_fd output;    ///< its standard output, where that is to be tagged
  unique_fd errors;
  std::optional<int> status;  ///< once it has ended: exit status, or 128 + signal
  bool announced = false;     ///< its end was handled

  /// Starts rank `rank` of `size`. The process dies with us, has a process group of its own, and reads from our
  /// standard input if it is rank 0 and that is no terminal. *Errors* code::system naming the program and what to do.
  [[nodiscard]] static pe_process start(int rank, int size, const std::vector<std::string>& command, bool tagged);

  /// Whether it has ended by now; sets `status`. It stays a zombie until reap(), so its number means nobody else.
  bool has_ended();
  /// The same, waiting for a moment.
  bool has_ended_within(milliseconds limit);
  /// "was killed by signal 9 (Killed)", "ended with exit status 1"
  [[nodiscard]] std::string how_it_ended() const;
  /// Sends a signal to the process and to what it has started.
  void signal_group(int number) const;
  void reap() const;
};

/// The shared library of another OpenSHMEM or NVSHMEM that the program of `process` is linked to. None where it is
/// linked to pgas as well, runs a script, or has ended.
[[nodiscard]] std::optional<std::string> other_shmem_library(pid_t process);

}  // namespace pgas::boot
