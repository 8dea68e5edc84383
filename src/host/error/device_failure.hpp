/// @file
/// The error for the failure record of a device operation, and the texts for the fields of a record. *Callers*
/// src/host/watch and src/host/world; src/host/api for names of operations.
#pragma once

#include <string_view>

#include "pgas/config.hpp"
#include "pgas/detail/failure_record.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// The name of an operation in messages.
[[nodiscard]] const char* name_of(operation what);

/// The symbol of a pgas::cmp in messages: ">=".
[[nodiscard]] std::string_view symbol_of(std::int32_t compare);

/// The error for a complete record of PE `my_pe`, with the operation, the PE, the heap offset, and the expected and the
/// seen value.
[[nodiscard]] error describe(const failure_record& record, int my_pe, const config& settings);

}  // namespace pgas::detail
