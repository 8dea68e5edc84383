/// @file
/// /dev/shm, by which UCX passes data between the PEs of a host.
#pragma once

#include <cstddef>
#include <string>

namespace pgas::detail {

/// What this process finds there.
struct shared_memory_room {
  std::size_t free = 0;  ///< bytes
  std::string found;     ///< "12 KiB of the 1 MiB of /dev/shm are free", or why no file can be made there
};

/// Makes a file there, for a moment.
[[nodiscard]] shared_memory_room look_at_shared_memory();

/// What a PE takes of it, and how to give it that.
inline constexpr std::size_t shared_memory_of_pe = std::size_t{5} << 20;
inline constexpr const char* more_shared_memory =
    "mount -o remount,size=1g /dev/shm, or mount -t tmpfs tmpfs /dev/shm (docker run --shm-size=1g); or UCX_TLS=tcp, "
    "which is slow";

}  // namespace pgas::detail
