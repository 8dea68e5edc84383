#include "error.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>

namespace nb = nanobind;
using namespace nb::literals;

namespace pgas::python {
namespace {

/// The class pgas.Error. The class is looked up at the first error, because the module that defines the class imports
/// this module.
PyObject* error_class = nullptr;

/// C++ functions that messages name, with the Python functions that replace them in messages.
constexpr std::pair<std::string_view, std::string_view> python_names[] = {
    {"shared_memory::make(memory_place::host(), ...) and register that", "pgas.shared_empty()"},
    {"shared_memory::make()", "pgas.shared_empty()"},
    {"shared_memory::make", "pgas.shared_empty"},
    {"only memory files can be shared, see memfd_create",
     "copy it into a pgas.shared_empty(), or share memory files (os.memfd_create)"},
    {"whole_block::allow", "whole_block=True"},
    {"stream::wrap: ", "stream=: "},
    {"make a pgas::stream", "take one of world.stream()"},
    {"pgas::timeline", "pgas.Timeline"},
    {"world::", "world."},
    {"stream::", "stream."},
};

std::string in_python(std::string text) {
  for (const auto& [cxx, python] : python_names)
    for (std::size_t at = text.find(cxx); at != std::string::npos; at = text.find(cxx, at + python.size()))
      text.replace(at, cxx.size(), python);
  return text;
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const error& e) {
    if (error_class == nullptr)
      error_class = nb::object(nb::module_::import_("pgas._error").attr("Error")).release().ptr();
    try {
      const nb::object made = nb::handle(error_class)(in_python(e.what()), static_cast<int>(e.code()), e.pe());
      PyErr_SetObject(error_class, made.ptr());
    } catch (nb::python_error& raised) {
      raised.restore();  // a signal handler has run during the call, and has raised an exception
    }
  }
}

}  // namespace

void bind_errors(nb::module_& m) {
  nb::register_exception_translator(translate);
  m.def(
      "error_table",
      [] {
        nb::list rows;
        for (const error_info& row : error_table())
          rows.append(nb::make_tuple(static_cast<int>(row.code), nb::str(row.name.data(), row.name.size()),
                                     nb::str(row.cause.data(), row.cause.size()),
                                     nb::str(row.fix.data(), row.fix.size())));
        return rows;
      },
      "The error codes: number, name, cause and fix of each.");
  m.def("raise_error",
        [](int number, const std::string& message, int pe) { throw error(static_cast<code>(number), message, pe); });
}

std::chrono::milliseconds milliseconds_of(double seconds, std::string_view what) {
  if (!(seconds >= 0))
    refuse(std::string(what) + " is a number of seconds, 0 or more, not " +
           nb::cast<std::string>(nb::str(nb::float_(seconds))));
  constexpr double as_good_as_for_ever = 1e9;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(std::min(seconds, as_good_as_for_ever) * 1000)));
}

std::uint64_t word_of(nb::handle value, std::string_view what) {
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) throw nb::python_error();
  const std::uint64_t word = PyLong_AsUnsignedLongLong(index.ptr());
  if (PyErr_Occurred() == nullptr) return word;
  PyErr_Clear();
  refuse(std::string(what) + " is a number from 0 to 2**64 - 1, not " + nb::cast<std::string>(nb::str(index)));
}

void release_errors() noexcept { Py_CLEAR(error_class); }

}  // namespace pgas::python
