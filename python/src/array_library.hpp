/// @file
/// Reads arrays of other libraries, and the current streams of these libraries. This file runs no Python code, because
/// running Python code takes longer than an operation. Supports libraries with DLPack's table of C functions
/// (`__dlpack_c_exchange_api__`, in torch 2.11), and CuPy.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "memory_class.hpp"

namespace pgas::python {

/// An array as its library describes it. The array object must stay alive.
struct array_description {
  std::uintptr_t data = 0;
  std::size_t count = 0;
  element_type type;
};

/// A library of arrays. *Callers* of all functions hold the GIL.
class array_library {
 public:
  virtual ~array_library() = default;
  /// The description of an array in C order; nothing for other objects. On return no Python exception is set.
  [[nodiscard]] virtual std::optional<array_description> describe(nanobind::handle array) const = 0;
  /// The current stream of a GPU, a cudaStream_t. Nothing if the library does not report it.
  [[nodiscard]] virtual std::optional<void*> current_stream(int gpu) const = 0;

  /// The library that an array belongs to. The library object is never destroyed. If the result is null, Python code
  /// must read the array.
  [[nodiscard]] static const array_library* find(nanobind::handle array);
};

/// The library that a type belongs to, if the type has DLPack's table; otherwise null.
[[nodiscard]] const array_library* find_dlpack_library(nanobind::handle type);
/// The library that a type belongs to, if the type is CuPy's array; otherwise null.
[[nodiscard]] const array_library* find_cupy(nanobind::handle type);

/// Two arrays of one library, and the stream for work on them.
class array_pair {
 public:
  /// The pair, if both objects are arrays in C order, with the same element type, of the same supported library;
  /// otherwise nothing. *Callers* hold the GIL.
  [[nodiscard]] static std::optional<array_pair> find(nanobind::handle first, nanobind::handle second);

  [[nodiscard]] const array_description& first() const { return first_; }
  [[nodiscard]] const array_description& second() const { return second_; }
  [[nodiscard]] std::optional<void*> current_stream(int gpu) const { return library_->current_stream(gpu); }

 private:
  array_pair(const array_library& library, const array_description& first, const array_description& second)
      : library_(&library), first_(first), second_(second) {}

  const array_library* library_;
  array_description first_;
  array_description second_;
};

}  // namespace pgas::python
