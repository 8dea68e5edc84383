/// @file
/// Compares the layout of the structs that kernels of a program share with the library.
#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "pgas/device/context.hpp"
#include "pgas/error.hpp"
#include "pgas/version.h"

namespace pgas::detail {

/// @param call the name of the call, for the error
/// @param layout context_layout of the headers with which the program was compiled
/// *Errors* version_mismatch.
inline void check_layout(const char* call, std::uint32_t layout) {
  if (layout == context_layout) return;
  throw error(code::version_mismatch,
              fmt::format("{}: pgas::context has layout {} and {} bytes in the program, and layout {} and {} bytes in "
                          "libpgas {}: compile the program, and each library with kernels, with the headers of the "
                          "installed libpgas",
                          call, layout >> 16, layout & 0xffff, context_layout >> 16, context_layout & 0xffff,
                          PGAS_VERSION_TEXT));
}

}  // namespace pgas::detail
