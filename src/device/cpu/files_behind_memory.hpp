/// @file
/// The files behind memory that the program mapped itself, so that it can be shared: /proc/self/maps says what is
/// mapped, /proc/self/fd has the descriptors.
#pragma once

#include <cstddef>
#include <vector>

#include "common/unique_fd.hpp"

namespace pgas::detail {

/// A file of memory (memfd_create, shm_open) that is mapped whole. Parts of a file are refused: another process maps
/// all of the file.
struct program_file {
  unique_fd fd;  ///< a descriptor of its own
  std::size_t bytes;
};

/// The files behind [pointer, pointer + bytes), in order. *Errors* invalid_argument saying what is mapped there
/// instead: private memory, a part of a file, a file that has no descriptor open in this process any more, nothing.
/// *Callers* any thread, while no other one changes these mappings.
[[nodiscard]] std::vector<program_file> files_behind_memory(const void* pointer, std::size_t bytes);

}  // namespace pgas::detail
