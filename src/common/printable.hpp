/// @file
/// Text of other processes, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace pgas::detail {

/// The text with control characters as escapes (`\x1b`). Raw control characters could move the cursor or forge a line.
[[nodiscard]] inline std::string printable(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    const bool second_set = byte == 0xc2 && next >= 0x80 && next < 0xa0;  // U+0080 to U+009F in UTF-8
    if (byte >= 0x20 && byte != 0x7f && !second_set) {
      shown += text[i];
      continue;
    }
    if (second_set) ++i;
    const unsigned char escaped = second_set ? next : byte;
    shown.append("\\x").append(1, digits[escaped >> 4]).append(1, digits[escaped & 15]);
  }
  return shown;
}

}  // namespace pgas::detail
