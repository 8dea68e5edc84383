/// @file
/// Checks that a program was compiled with the library's own definition of a public struct.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "pgas/error.hpp"

namespace pgas::detail {

/// Compares the first field of a public struct to the size of the struct in this library. The field is the size in the
/// header with which the program was compiled. Called before any other field is used.
/// @param name the name of the struct
/// *Errors* version_mismatch.
inline void check_struct_size(std::string_view name, std::size_t in_program, std::size_t in_library) {
  if (in_program == in_library) return;
  throw error(
      code::version_mismatch,
      fmt::format("pgas::{} has {} bytes in the program and {} in this libpgas.so: compile the program with the "
                  "headers of the installed version",
                  name, in_program, in_library));
}

}  // namespace pgas::detail
