/// @file
/// Which process a number means: the kernel uses the numbers of processes again. (Whether this one is a child of fork()
/// is for fork_guard.hpp.)
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace pgas::detail {

/// When process `pid` of this namespace was started, in clock ticks after boot: with the number it names one process
/// for as long as the machine runs. 0 where there is none, only its parent has not asked yet how it ended, or there is
/// no /proc. *Errors* code::system where this process may open no more files.
[[nodiscard]] std::uint64_t process_start(pid_t pid);

/// A process that a message or a file names still runs, as far as this one can see.
[[nodiscard]] inline bool still_runs(pid_t pid, std::uint64_t start) { return process_start(pid) == start; }

/// A process and when it was started in one word, for pages that processes share.
[[nodiscard]] inline std::uint64_t process_name(pid_t pid) {
  return process_start(pid) << 32 | static_cast<std::uint32_t>(pid);
}
[[nodiscard]] inline pid_t pid_in(std::uint64_t name) noexcept { return static_cast<pid_t>(name & 0xffffffff); }

}  // namespace pgas::detail
