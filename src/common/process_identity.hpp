/// @file
/// The identity of a process: the process id and the start time, because the operating system reuses process ids. Also
/// the identity of the operating system and of the namespaces in which the process runs. fork_guard.hpp detects
/// children of fork().
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace pgas::detail {

/// The operating system's information about a process, from /proc/PID/stat.
struct process_status {
  char state = '?';  ///< a letter, see proc(5)
  pid_t parent = 0;
  long threads = 0;
  std::uint64_t start = 0;  ///< the start time, in clock ticks after boot

  /// Whether the process is a zombie or dead.
  [[nodiscard]] bool ended() const {
    // If the first thread has ended while other threads still run, the state is that of a zombie.
    return (state == 'Z' || state == 'X') && threads <= 1;
  }
  [[nodiscard]] bool stopped() const { return state == 'T' || state == 't'; }
};

/// The status of process `pid` of this namespace. Empty, with errno of the failed open, if the process does not exist
/// or /proc is not mounted.
[[nodiscard]] std::optional<process_status> status_of(pid_t pid);

/// The start time of process `pid` of this namespace, in clock ticks after boot. The process id and the start time
/// identify a process until the machine reboots. 0 if the process does not exist or is a zombie, or if /proc is not
/// mounted.
/// *Errors* code::system if this process may open no more files.
[[nodiscard]] std::uint64_t process_start(pid_t pid);

/// Whether the process with this process id and this start time still runs, as far as this process can see.
[[nodiscard]] inline bool still_runs(pid_t pid, std::uint64_t start) { return process_start(pid) == start; }

/// The process id and the start time of a process in one word, for shared pages.
[[nodiscard]] inline std::uint64_t process_name(pid_t pid) {
  return process_start(pid) << 32 | static_cast<std::uint32_t>(pid);
}
[[nodiscard]] inline pid_t pid_in(std::uint64_t name) noexcept { return static_cast<pid_t>(name & 0xffffffff); }

/// The name of this host as the system reports it; localhost if the system reports no name.
[[nodiscard]] std::string host_name();

/// The identity of this boot of the operating system; every boot has another identity. Without /proc, the result is
/// empty and errno is the error of opening the file.
[[nodiscard]] std::string boot_id();

/// The identity of a namespace of this process, such as "4:4026531840" for "net". Empty without /proc.
[[nodiscard]] std::string own_namespace(const char* kind);

}  // namespace pgas::detail
