/// @file
/// What a device operation left in its failure record, in words.
#pragma once

#include "pgas/config.hpp"
#include "pgas/detail/layout.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// What an operation is called.
[[nodiscard]] const char* name_of(operation what);

/// The error for a complete record of PE `my_pe`: what was called, on which PE and heap offset, what it waited for and saw.
[[nodiscard]] error describe(const failure_record& record, int my_pe, const config& settings);

}  // namespace pgas::detail
