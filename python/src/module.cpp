// The extension pgas._core: the C++ library for Python. The Python code of the package takes addresses and sizes from
// arrays, and passes them to the extension.
#include <nanobind/nanobind.h>

#include "error.hpp"
#include "joined_world.hpp"
#include "pgas/version.h"

namespace nb = nanobind;

NB_MODULE(_core, m) {
  m.doc() = "The C++ library pgas. Use the package pgas.";
  // Python may end while worlds are joined and arrays in them exist. The objects that these worlds and arrays keep
  // alive are not leaks.
  nb::set_leak_warnings(false);
  pgas::python::bind_errors(m);
  pgas::python::bind_memory(m);
  pgas::python::bind_world(m);
  pgas::python::bind_sharing(m);
  m.def(
      "in_main_interpreter", [] { return PyInterpreterState_GetID(PyInterpreterState_Get()) == 0; },
      "False in a sub-interpreter, where the extension is not allowed.");
  m.attr("version") = PGAS_VERSION_TEXT;
  m.def("leak_warnings", &nb::set_leak_warnings, nb::arg("on"), "nanobind's report of leaked objects, for tests.");
  m.def("release_errors", &pgas::python::release_errors);
}
