/// @file
/// Functions of libraries that the program itself has loaded, found by name, so that nothing is linked against them.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include <string_view>

#include "pgas/error.hpp"

namespace pgas::capi {

/// Where the process has something called `name`; null if nowhere.
template <class T>
[[nodiscard]] T* find_loaded(const char* name) {
  return reinterpret_cast<T*>(::dlsym(RTLD_DEFAULT, name));
}

/// The function called `name`. *Errors* bootstrap_unavailable, saying that `library` is not there.
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

}  // namespace pgas::capi
