#include "array_library.hpp"

#include <mutex>
#include <vector>

namespace nb = nanobind;

namespace pgas::python {

const array_library* array_library::find(nb::handle array) {
  struct known {
    nb::handle type;  // holds a reference to the type, so that no other type gets this address
    const array_library* library;
  };
  static auto& all = *new std::vector<known>;
  static auto& lock = *new std::mutex;
  const nb::handle type = array.type();
  {
    const std::lock_guard guard(lock);
    for (const known& one : all)
      if (one.type.is(type)) return one.library;
  }
  // The lock is not held here, because the calls run Python code, and Python code may let another thread run. If two
  // threads look up the same type at the same time, the type gets two entries.
  const array_library* found = find_dlpack_library(type);
  if (found == nullptr) found = find_cupy(type);
  const std::lock_guard guard(lock);
  all.push_back({type.inc_ref(), found});
  return found;
}

std::optional<array_pair> array_pair::find(nb::handle first, nb::handle second) {
  const array_library* const library = array_library::find(first);
  if (library == nullptr) return std::nullopt;
  const std::optional<array_description> one = library->describe(first);
  if (!one) return std::nullopt;
  if (second.is(first)) return array_pair(*library, *one, *one);
  if (array_library::find(second) != library) return std::nullopt;
  const std::optional<array_description> other = library->describe(second);
  if (!other || other->type != one->type) return std::nullopt;
  return array_pair(*library, *one, *other);
}

}  // namespace pgas::python
