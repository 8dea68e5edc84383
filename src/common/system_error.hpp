/// @file
/// Errors of the operating system as pgas::error.
#pragma once

#include <string>
#include <string_view>

namespace pgas::detail {

/// What the C library calls this errno. *Callers* any thread.
[[nodiscard]] std::string errno_text(int number);

/// Throws code::system with "`what`: `number`'s text".
[[noreturn]] void throw_system(std::string_view what, int number);
/// The same for errno.
[[noreturn]] void throw_system(std::string_view what);

}  // namespace pgas::detail
