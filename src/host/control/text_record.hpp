/// @file
/// A few strings as one contribution to an all-gather.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "pgas/bootstrap.hpp"

namespace pgas::detail {

/// The strings, each ended by a zero byte.
[[nodiscard]] inline blob join_fields(std::initializer_list<std::string> fields) {
  blob bytes;
  for (const std::string& field : fields) {
    for (const char c : field) bytes.push_back(static_cast<std::byte>(c));
    bytes.push_back(std::byte{0});
  }
  return bytes;
}

/// The strings of join_fields(). A last one without its zero byte is dropped, so that a truncated blob has too few.
[[nodiscard]] inline std::vector<std::string> split_fields(const blob& bytes) {
  std::vector<std::string> fields;
  std::string field;
  for (const std::byte byte : bytes) {
    if (byte == std::byte{0})
      fields.push_back(std::exchange(field, {}));
    else
      field.push_back(static_cast<char>(byte));
  }
  return fields;
}

}  // namespace pgas::detail
