/// @file
/// Arrays of libraries that have DLPack's table of C functions (`__dlpack_c_exchange_api__`, which torch
/// 2.11 has): what an array is, and the current stream, without calls of Python, which cost more than an operation.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "memory_class.hpp"

namespace pgas::python {

/// An array as its library describes it. It is borrowed: the object has to live as long.
struct exchanged_array {
  std::uintptr_t data = 0;
  std::size_t count = 0;
  element_type type;
};

/// Two arrays of one library, and the stream for work on them.
class exchanged_pair {
 public:
  /// Nothing unless both are arrays in C order, with elements of one type, of a library that has the table. *Callers*
  /// with the GIL.
  [[nodiscard]] static std::optional<exchanged_pair> of(nanobind::handle first, nanobind::handle second);

  [[nodiscard]] const exchanged_array& first() const { return first_; }
  [[nodiscard]] const exchanged_array& second() const { return second_; }
  /// The library's current stream of a GPU, a cudaStream_t. Nothing where it does not say.
  [[nodiscard]] std::optional<void*> current_stream(int gpu) const;

 private:
  struct table;
  explicit exchanged_pair(const table& functions) : functions_(&functions) {}
  [[nodiscard]] static const table* table_of(nanobind::handle array);
  [[nodiscard]] static bool read(const table& functions, nanobind::handle from, exchanged_array& to);

  const table* functions_;
  exchanged_array first_;
  exchanged_array second_;
};

}  // namespace pgas::python
