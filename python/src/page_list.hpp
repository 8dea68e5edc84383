/// @file
/// Makes lists of pages from the addresses and sizes that Python code has taken from arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "pgas/copy_list.hpp"

namespace pgas::python {

/// One side of a list of pages. The members are the address of page 0, the bytes between the starts of neighbouring
/// pages, the address of the indices (0: no indices), and the bytes of an index (4 or 8).
using page_numbers = std::tuple<std::uintptr_t, std::size_t, std::uintptr_t, std::size_t>;

/// The list that copies `count` pages of `bytes` bytes.
[[nodiscard]] inline copy_list page_list(const page_numbers& to, const page_numbers& from, std::size_t bytes,
                                         std::size_t count) {
  const auto side = [](const page_numbers& numbers, auto byte, auto next) {
    const auto& [base, stride, index, index_bytes] = numbers;
    auto* const at = reinterpret_cast<decltype(byte)>(base);
    using Byte = std::remove_pointer_t<decltype(byte)>;
    if (index_bytes == sizeof(std::int32_t))
      return next(page_side<Byte, std::int32_t>{at, stride, reinterpret_cast<const std::int32_t*>(index)});
    return next(page_side<Byte, std::int64_t>{at, stride, reinterpret_cast<const std::int64_t*>(index)});
  };
  return side(to, static_cast<void*>(nullptr), [&](const auto& left) {
    return side(from, static_cast<const void*>(nullptr),
                [&](const auto& right) { return copy_list(left, right, bytes, count); });
  });
}

}  // namespace pgas::python
