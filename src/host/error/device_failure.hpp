/// @file
/// The error for the failure record of a device operation, and the words for what is in one. *Callers* src/host/watch
/// and src/host/world; for names of operations src/host/api.
#pragma once

#include <string_view>

#include "pgas/config.hpp"
#include "pgas/detail/failure_record.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// The name of an operation in messages.
[[nodiscard]] const char* name_of(operation what);

/// A pgas::cmp in messages: ">=".
[[nodiscard]] std::string_view symbol_of(std::int32_t compare);

/// The error for a complete record of PE `my_pe`: operation, PE, heap offset, expected and seen value.
[[nodiscard]] error describe(const failure_record& record, int my_pe, const config& settings);

}  // namespace pgas::detail
