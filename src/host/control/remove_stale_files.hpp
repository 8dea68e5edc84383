/// @file
/// Files of processes that were killed while they joined.
#pragma once

#include <string>

namespace pgas::detail {

/// Removes files of killed processes of this user: sockets in `directory`, where one is given, without a listener, and
/// files of UCX in /dev/shm that no process has open. Failures are ignored.
void remove_stale_files(const std::string& directory) noexcept;

}  // namespace pgas::detail
