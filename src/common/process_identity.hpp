/// @file
/// The identity of a process: its number and its start time, because the kernel reuses numbers. fork_guard.hpp detects
/// children of fork().
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace pgas::detail {

/// The start time of process `pid` of this namespace, in clock ticks after boot. The number and the start time identify
/// a process until the machine reboots. 0 if the process does not exist or is a zombie, or without /proc. *Errors*
/// code::system if this process may open no more files.
[[nodiscard]] std::uint64_t process_start(pid_t pid);

/// Whether the process with this number and this start time still runs, as far as this process can see.
[[nodiscard]] inline bool still_runs(pid_t pid, std::uint64_t start) { return process_start(pid) == start; }

/// The number and the start time of a process in one word, for shared pages.
[[nodiscard]] inline std::uint64_t process_name(pid_t pid) {
  return process_start(pid) << 32 | static_cast<std::uint32_t>(pid);
}
[[nodiscard]] inline pid_t pid_in(std::uint64_t name) noexcept { return static_cast<pid_t>(name & 0xffffffff); }

}  // namespace pgas::detail
