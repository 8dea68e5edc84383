/// @file
/// Finds the files of memory that the program has mapped itself, so that the memory can be shared. /proc/self/maps
/// lists the mappings, and /proc/self/fd lists the descriptors.
#pragma once

#include <cstddef>
#include <vector>

#include "common/unique_fd.hpp"

namespace pgas::detail {

/// A memory file (memfd_create, shm_open) that is mapped completely. A mapping of a part of a file is refused, because
/// another process would map the whole file.
struct program_file {
  unique_fd fd;  ///< a separate descriptor
  std::size_t bytes;
};

/// The files behind [pointer, pointer + bytes), in order. *Errors* invalid_argument with a description of the mapping
/// that cannot be shared: private memory, a part of a file, a file without an open descriptor in this process, or no
/// mapping. *Callers* any thread, while no other thread changes these mappings.
[[nodiscard]] std::vector<program_file> files_behind_memory(const void* pointer, std::size_t bytes);

}  // namespace pgas::detail
