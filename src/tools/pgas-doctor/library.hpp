/// @file
/// Checks whether programs load the libpgas.so with which this pgas-doctor was built.
#pragma once

#include <string>

#include "tools/pgas-doctor/row.hpp"

namespace pgas::doctor {

/// The libpgas.so that a program in the doctor's environment would load.
struct loaded_library {
  std::string path;     ///< empty if no library was found
  std::string version;  ///< "0.1.0"; empty if the library does not contain its version
  std::string build;    ///< a hash of the contents of the file
  std::string failure;  ///< the reason why no library was found
};
/// Loads the library as a program would, to find its path, and reads its version from the file. *Errors* none: a
/// failure is part of the result.
[[nodiscard]] loaded_library find_library();
/// Whether the found library is the library with which this pgas-doctor was built. The other rows describe only the
/// library of pgas-doctor itself.
[[nodiscard]] row check_library(const loaded_library& found);

}  // namespace pgas::doctor
