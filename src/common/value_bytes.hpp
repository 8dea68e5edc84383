/// @file
/// Copies values into messages and out of messages. A message contains the bytes that a value has in memory, so the
/// sender and the receiver of a message must have the same version.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace pgas::detail {

/// The bytes of a value in memory.
template <class Value>
requires std::is_trivially_copyable_v<Value>
[[nodiscard]] std::span<const std::byte> bytes_of(const Value& value) { return std::as_bytes(std::span(&value, 1)); }
template <class Value>
[[nodiscard]] std::span<std::byte> writable_bytes_of(Value& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

/// Removes a value from the front of the bytes. Returns false and changes nothing if the bytes are too few.
template <class Value>
requires std::is_trivially_copyable_v<Value>
[[nodiscard]] bool take_value(std::span<const std::byte>& bytes, Value& value) noexcept {
  if (bytes.size() < sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes = bytes.subspan(sizeof value);
  return true;
}

}  // namespace pgas::detail
