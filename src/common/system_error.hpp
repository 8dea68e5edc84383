/// @file
/// Converts failed calls of the operating system to pgas::error.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "pgas/error.hpp"

namespace pgas::detail {

/// The C library's text for this errno. *Callers* any thread.
[[nodiscard]] inline std::string errno_text(int number) { return std::generic_category().message(number); }

/// Throws code::system with "`what`: " and the text of `number`. If the process has no free descriptor, the text names
/// the limit on descriptors.
[[noreturn]] inline void throw_system(std::string_view what, int number) {
  const bool no_files = number == EMFILE || number == ENFILE;
  throw error(code::system,
              fmt::format("{}: {}{}", what, errno_text(number), no_files ? "; raise the limit (ulimit -n)" : ""));
}
/// Throws the error for errno.
[[noreturn]] inline void throw_system(std::string_view what) { throw_system(what, errno); }

}  // namespace pgas::detail
