/// @file
/// pgas::error as the Python exception pgas.Error.
#pragma once

#include <nanobind/nanobind.h>

#include "pgas/error.hpp"

namespace pgas::python {

/// Registers the translation of pgas::error, and the table of codes.
void bind_errors(nanobind::module_& m);

/// Forgets the class pgas.Error, before the interpreter ends.
void release_errors() noexcept;

/// An argument that the library would not accept.
[[noreturn]] inline void refuse(std::string_view what) { throw error(code::invalid_argument, what); }

}  // namespace pgas::python
