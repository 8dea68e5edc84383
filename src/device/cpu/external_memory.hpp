/// @file
/// Shared memory that the program made itself, found again by its address. Apart from host_segment.hpp, as only
/// registered user buffers need /proc/self/maps.
#pragma once

#include <cstddef>
#include <vector>

#include "common/unique_fd.hpp"

namespace pgas::detail {

/// A file of memory that is mapped whole.
struct program_file {
  unique_fd fd;  ///< opened anew
  std::size_t bytes;
};

/// The files behind [pointer, pointer + bytes), in order. *Errors* invalid_argument saying what is mapped there
/// instead.
[[nodiscard]] std::vector<program_file> find_program_files(const void* pointer, std::size_t bytes);

}  // namespace pgas::detail
