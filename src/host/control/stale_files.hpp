/// @file
/// Files that processes leave which are killed while they join.
#pragma once

#include <string>

namespace pgas::detail {

/// Takes away what killed processes of this user have left: sockets of worlds in `directory`, where one is given, at
/// which nobody listens, and files of UCX in /dev/shm that no process has open. Says nothing where that does not work.
void sweep_leftovers(const std::string& directory) noexcept;

}  // namespace pgas::detail
