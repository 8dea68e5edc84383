/// @file
/// libpmix, looked up at run time: a program built with one version runs with another, or without any.
///
/// Only functions and layouts that are the same in PMIx 4 and 5 are used. The macros of pmix.h are not, beyond
/// constants: many call helper functions that one of the two versions lacks. So structs are filled in by hand.
#pragma once

#include <pmix.h>

#include <string>

namespace pgas::boot {

struct pmix_library {
  decltype(&PMIx_Init) init;
  decltype(&PMIx_Finalize) finalize;
  decltype(&PMIx_Put) put;
  decltype(&PMIx_Commit) commit;
  decltype(&PMIx_Fence_nb) fence_nb;
  decltype(&PMIx_Get) get;
  decltype(&PMIx_Abort) abort;
  decltype(&PMIx_Error_string) error_string;
  std::string version;  ///< "PMIx 4.2.2"

  /// Loads the library at the first call and keeps it for good: its threads and exit handlers may outlive any world.
  /// *Errors* code::bootstrap_unavailable with the loader's reason.
  [[nodiscard]] static const pmix_library& get_loaded();
};

}  // namespace pgas::boot
