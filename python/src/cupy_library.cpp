// Arrays and the current stream of CuPy. The description of an array is in attributes of CuPy's compiled class. CuPy
// exports a function for the current stream to other compiled modules.
#include <nanobind/stl/string.h>

#include <mutex>
#include <string>
#include <vector>

#include "array_library.hpp"

namespace nb = nanobind;

namespace pgas::python {
namespace {

/// An attribute's name, interned so that the interpreter compares it quickly.
nb::handle interned(const char* name) { return PyUnicode_InternFromString(name); }

/// The value of an attribute that is a whole number; nothing for other values.
std::optional<std::uintptr_t> number(nb::handle of, nb::handle name) {
  const nb::object found = nb::steal(PyObject_GetAttr(of.ptr(), name.ptr()));
  if (!found.is_valid()) return std::nullopt;
  const std::size_t value = PyLong_AsSize_t(found.ptr());
  if (value == static_cast<std::size_t>(-1) && PyErr_Occurred() != nullptr) return std::nullopt;
  return value;
}

class cupy_library final : public array_library {
 public:
  using stream_function = std::intptr_t (*)(int gpu);

  explicit cupy_library(stream_function stream_of) : stream_of_(stream_of) {}

  [[nodiscard]] std::optional<array_description> describe(nb::handle array) const override {
    std::optional<array_description> found = read(array);
    if (!found) PyErr_Clear();  // Python code reads the array instead, and reports the error
    return found;
  }

  [[nodiscard]] std::optional<void*> current_stream(int gpu) const override {
    const std::intptr_t stream = stream_of_(gpu);
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return std::nullopt;
    }
    return reinterpret_cast<void*>(stream);
  }

 private:
  [[nodiscard]] std::optional<array_description> read(nb::handle array) const {
    const nb::object in_order = nb::steal(PyObject_GetAttr(array.ptr(), c_order_.ptr()));
    if (in_order.ptr() != Py_True) return std::nullopt;
    const nb::object memory = nb::steal(PyObject_GetAttr(array.ptr(), data_.ptr()));
    const nb::object dtype = nb::steal(PyObject_GetAttr(array.ptr(), dtype_.ptr()));
    if (!memory.is_valid() || !dtype.is_valid()) return std::nullopt;
    const std::optional<std::uintptr_t> address = number(memory, ptr_);
    if (!address) return std::nullopt;
    const std::optional<std::size_t> count = number(array, size_);
    if (!count) return std::nullopt;
    const std::optional<element_type> type = type_of(dtype);
    if (!type) return std::nullopt;
    return array_description{*address, *count, *type};
  }

  /// The lookup compares addresses, because NumPy has one object for each of its built-in types.
  [[nodiscard]] static std::optional<element_type> type_of(const nb::object& dtype) {
    struct known {
      nb::object dtype;
      std::optional<element_type> type;
    };
    static auto& all = *new std::vector<known>;
    static auto& lock = *new std::mutex;
    {
      const std::lock_guard guard(lock);
      for (const known& one : all)
        if (one.dtype.is(dtype)) return one.type;
    }
    std::optional<element_type> found;
    try {
      found = element_type_of(nb::cast<std::string>(nb::str(dtype)));
    } catch (const std::exception&) {
      found = std::nullopt;  // a structure, or a type that operations do not support; Python code reports the error
    }
    const std::lock_guard guard(lock);
    // The list is limited, because a program may create types repeatedly, for example structures.
    if (constexpr std::size_t most = 64; all.size() < most) all.push_back({dtype, found});
    return found;
  }

  stream_function stream_of_;
  nb::handle c_order_ = interned("_c_contiguous");
  nb::handle data_ = interned("data");
  nb::handle ptr_ = interned("ptr");
  nb::handle size_ = interned("size");
  nb::handle dtype_ = interned("dtype");
};

/// CuPy's function for the current stream of a GPU. Cython exports the function as a capsule that is named after the
/// function's type.
cupy_library::stream_function find_stream_function() {
  constexpr const char* signature = "intptr_t (int)";
  const nb::object exported =
      nb::getattr(nb::module_::import_("cupy_backends.cuda.stream"), "__pyx_capi__", nb::dict());
  const nb::object capsule = exported.attr("get")("get_stream_ptr");
  if (PyCapsule_IsValid(capsule.ptr(), signature) == 0) return nullptr;
  return reinterpret_cast<cupy_library::stream_function>(PyCapsule_GetPointer(capsule.ptr(), signature));
}

}  // namespace

const array_library* find_cupy(nb::handle type) {
  try {
    if (nb::cast<std::string>(type.attr("__module__")) != "cupy" ||
        nb::cast<std::string>(type.attr("__name__")) != "ndarray")
      return nullptr;
    for (const char* const name : {"_c_contiguous", "data", "size", "dtype"})
      if (!nb::hasattr(type, name)) return nullptr;
    const cupy_library::stream_function stream_of = find_stream_function();
    return stream_of == nullptr ? nullptr : new cupy_library(stream_of);
  } catch (const std::exception&) {
    return nullptr;  // a CuPy version without this function
  }
}

}  // namespace pgas::python
