/// @file
/// Untyped memory as elements of so many bytes.
#pragma once

#include <array>
#include <cstddef>

namespace pgas::capi {

template <std::size_t Bytes>
using element = std::array<std::byte, Bytes>;

template <std::size_t Bytes>
[[nodiscard]] element<Bytes>* to(void* pointer) {
  return static_cast<element<Bytes>*>(pointer);
}
template <std::size_t Bytes>
[[nodiscard]] const element<Bytes>* from(const void* pointer) {
  return static_cast<const element<Bytes>*>(pointer);
}

}  // namespace pgas::capi
