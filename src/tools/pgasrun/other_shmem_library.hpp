/// @file
/// Whether a program was built for another library, whose PEs pgasrun would start each on its own.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace pgas::boot {

/// The shared library of another OpenSHMEM or NVSHMEM that the program of this process is linked to. None where it is
/// linked to pgas as well, runs a script, or has ended.
[[nodiscard]] std::optional<std::string> other_shmem_library(pid_t process);

}  // namespace pgas::boot
