/// @file
/// A process that pgasrun has started: its start and its end.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "common/deadline.hpp"
#include "common/unique_fd.hpp"

namespace pgas::boot {

using namespace detail;  // namespace of src/common

struct pe_process {
  int rank = -1;
  pid_t pid = -1;      ///< the process id, which is also the id of the process group
  unique_fd requests;  ///< the other end of the socket that the process inherits
  unique_fd output;    ///< the standard output of the process, if lines are tagged
  unique_fd errors;
  std::optional<int> status;  ///< set when the process has ended: the exit status, or 128 plus the signal
  bool announced = false;     ///< whether the end of the process was handled

  /// Starts rank `rank` of `size`. The process ends with pgasrun and has a separate process group. Rank 0 reads from
  /// pgasrun's standard input, unless that is a terminal. *Errors* code::system with the name of the program and the
  /// remedy.
  [[nodiscard]] static pe_process start(int rank, int size, const std::vector<std::string>& command, bool tagged);

  /// Whether the process has ended. Sets `status`. The process stays a zombie until reap(), so no other process gets
  /// its process id.
  bool has_ended();
  /// Waits for the end of the process for at most `limit`. Returns whether it has ended.
  bool has_ended_within(milliseconds limit);
  /// "was killed by signal 9 (Killed)", "ended with exit status 1"
  [[nodiscard]] std::string how_it_ended() const;
  /// Sends a signal to the process and to the processes that it has started.
  void signal_group(int number) const;
  void reap() const;
};

/// The shared library of another OpenSHMEM or NVSHMEM to which the program of `process` is linked. Empty if the program
/// is also linked to pgas, is a script, or has ended.
[[nodiscard]] std::optional<std::string> other_shmem_library(pid_t process);

}  // namespace pgas::boot
