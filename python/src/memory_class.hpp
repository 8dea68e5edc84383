/// @file
/// The Python class for memory: an address with a shape and a type. A memory object keeps the owner of the memory
/// alive. All array libraries create arrays from such an object, by DLPack, the buffer protocol or the CUDA array
/// interface.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pgas::python {

/// An element type as DLPack describes it: a code and a number of bits.
struct element_type {
  std::uint8_t code = 1;
  std::uint8_t bits = 8;

  [[nodiscard]] std::int64_t bytes() const { return bits / 8; }
  friend bool operator==(element_type, element_type) = default;
};
/// The element type with the name that NumPy and torch use, such as float32. *Errors* invalid_argument.
[[nodiscard]] element_type element_type_of(std::string_view name);
/// The name that NumPy and torch use for the element type. *Errors* invalid_argument.
[[nodiscard]] std::string name_of(element_type type);

/// An array: plain memory with a shape and a type. Copies of this struct refer to the same memory.
struct memory {
  std::shared_ptr<const void> owner;  ///< must stay alive while the memory is used
  std::byte* data = nullptr;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< elements; empty: C order
  element_type type;
  int gpu = -1;  ///< CUDA's number; -1: host memory
  bool read_only = false;

  /// The number of elements of the shape.
  [[nodiscard]] std::int64_t count() const;
  /// The strides in elements. If no strides are stored, these are the strides of C order.
  [[nodiscard]] std::vector<std::int64_t> all_strides() const;
};

/// Memory of `bytes` bytes.
[[nodiscard]] memory plain_memory(std::shared_ptr<const void> owner, void* data, std::size_t bytes, int gpu,
                                  bool read_only = false);

/// The Python class Memory.
void bind_memory(nanobind::module_& m);

}  // namespace pgas::python
