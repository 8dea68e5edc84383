/// @file
/// Replaces NIXL's header of the same name. That header needs the headers and libraries of the version of Abseil that
/// NIXL was built with. A plugin without Abseil works with any build of NIXL. NIXL's headers for plugins use the names
/// NIXL_ERROR and NIXL_ASSERT. This file defines them as an object and a function, not as macros. The backend itself
/// logs by report.hpp.
#pragma once

#include <iostream>

/// One line of the log, on the standard error output.
class nixl_log_line {
 public:
  explicit nixl_log_line(const char* start) { std::cerr << start; }
  ~nixl_log_line() { std::cerr << '\n'; }
  nixl_log_line(const nixl_log_line&) = delete;
  nixl_log_line& operator=(const nixl_log_line&) = delete;
  /// Writes a part of the line.
  template <class Part>
  const nixl_log_line& operator<<(const Part& part) const {
    std::cerr << part;
    return *this;
  }
};

/// Begins lines of the log.
struct nixl_log {
  nixl_log_line operator<<(const char* start) const { return nixl_log_line(start); }
};
inline constexpr nixl_log NIXL_ERROR;

/// A check of NIXL's debug builds.
inline void NIXL_ASSERT(bool) {}
