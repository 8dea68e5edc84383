/// @file
/// Looks up functions of libraries that the program has loaded, so that this library need not be linked to them.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include <string_view>

#include "pgas/error.hpp"

namespace pgas::compat {

/// The address of the symbol `name` in this process; null if there is none.
template <class T>
[[nodiscard]] T* find_loaded(const char* name) {
  return reinterpret_cast<T*>(::dlsym(RTLD_DEFAULT, name));
}

/// Looks up the function `name`. *Errors* bootstrap_unavailable naming `library`.
template <class Function>
void look_up(Function*& function, const char* name, std::string_view library) {
  function = find_loaded<Function>(name);
  if (function == nullptr)
    throw error(
        code::bootstrap_unavailable,
        fmt::format("{} is not loaded in this process, or has no function {}: link the program to it, or load it "
                    "with RTLD_GLOBAL",
                    library, name));
}

}  // namespace pgas::compat
