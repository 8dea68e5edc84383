/// @file
/// Translates pgas::error to the Python exception pgas.Error.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstdint>
#include <string_view>

#include "pgas/error.hpp"

namespace pgas::python {

/// Registers the translation of pgas::error, and the table of codes.
void bind_errors(nanobind::module_& m);

/// Releases the class pgas.Error, before the interpreter ends.
void release_errors() noexcept;

/// Throws invalid_argument for an argument that the library would not accept.
[[noreturn]] inline void refuse(std::string_view what) { throw error(code::invalid_argument, what); }

/// Converts a number of seconds from Python. A time of more than 30 years becomes the longest time that the library
/// supports. *Errors* invalid_argument for a negative value or a value that is not a number.
[[nodiscard]] std::chrono::milliseconds milliseconds_of(double seconds, std::string_view what);
/// Converts a Python number to an unsigned 64-bit value. *Errors* invalid_argument.
[[nodiscard]] std::uint64_t word_of(nanobind::handle value, std::string_view what);

}  // namespace pgas::python
