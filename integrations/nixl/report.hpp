/// @file
/// Reports errors of pgas to NIXL: as a status, and as a line on the standard error output. NIXL logs the status.
#pragma once

#include <exception>
#include <string_view>

#include "nixl_types.h"

namespace pgas::nixl {

/// Logs a refusal or a failure.
/// @param what what the backend refuses or what has failed, as a whole sentence
void report(std::string_view what);

/// Logs an exception.
/// @param what the call that has failed
/// @return the status of NIXL for the code of a pgas::error; NIXL_ERR_BACKEND for other exceptions
[[nodiscard]] nixl_status_t report(std::string_view what, const std::exception& failed);

/// Runs `body`, which returns a status or throws. *On return* exceptions are logged and returned as a status.
template <class Body>
[[nodiscard]] nixl_status_t reported(std::string_view what, const Body& body) {
  try {
    return body();
  } catch (const std::exception& failed) {
    return report(what, failed);
  }
}

}  // namespace pgas::nixl
