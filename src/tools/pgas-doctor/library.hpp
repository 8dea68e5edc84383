/// @file
/// The library that programs load, against the one of this doctor.
#pragma once

#include <string>

#include "tools/pgas-doctor/row.hpp"

namespace pgas::doctor {

/// The libpgas.so that a program beside the doctor would load.
struct loaded_library {
  std::string path;     ///< empty where there is none
  std::string version;  ///< "0.1.0"; empty where it does not say
  std::string build;    ///< the same for the same file
  std::string failure;  ///< why there is none
};
/// Loads it as a program would, to learn where it is, and reads its version from the file. *Errors* none: what failed
/// is in the result.
[[nodiscard]] loaded_library find_library();
/// Whether the library that was found is the one that this doctor was built with: what another one does, the other rows
/// do not tell.
[[nodiscard]] row check_library(const loaded_library& found);

}  // namespace pgas::doctor
