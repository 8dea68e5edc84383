/// @file
/// The part of the wire format of protocol buffers that the trace needs: varints, fixed 64-bit words, and bytes with a
/// length. https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace pgas::trace {

/// A message that grows field by field.
class message_writer {
 public:
  void number(std::uint32_t field, std::uint64_t value) {
    tag(field, 0);
    varint(value);
  }
  void fixed(std::uint32_t field, std::uint64_t value) {
    tag(field, 1);
    for (int byte = 0; byte < 8; ++byte) bytes_ += static_cast<char>(value >> (8 * byte));
  }
  void text(std::uint32_t field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(std::uint32_t field, const message_writer& inner) { text(field, inner.bytes_); }

  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  void tag(std::uint32_t field, std::uint32_t type) { varint(std::uint64_t{field} << 3 | type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

/// A field of a message. `value` is set for a number, and `bytes` for a field with a length.
struct message_field {
  std::uint32_t number = 0;
  std::uint64_t value = 0;
  std::string_view bytes;
};

/// Reads the fields of a message, one after the other.
class message_reader {
 public:
  explicit message_reader(std::string_view bytes) : rest_(bytes) {}

  /// The next field. Empty at the end of the message and at the first byte that is not part of a field; malformed()
  /// tells the two cases apart.
  [[nodiscard]] std::optional<message_field> next() {
    if (rest_.empty() || malformed_) return std::nullopt;
    message_field found;
    const std::optional<std::uint64_t> tag = varint();
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1fffffff) return broken();
    found.number = static_cast<std::uint32_t>(*tag >> 3);
    const std::uint32_t type = *tag & 7;
    if (type == 1 || type == 5) {
      const std::size_t size = type == 1 ? 8 : 4;
      if (rest_.size() < size) return broken();
      for (std::size_t byte = 0; byte < size; ++byte)
        found.value |= std::uint64_t{static_cast<unsigned char>(rest_[byte])} << (8 * byte);
      rest_.remove_prefix(size);
      return found;
    }
    const std::optional<std::uint64_t> value = type == 0 || type == 2 ? varint() : std::nullopt;
    if (!value) return broken();
    found.value = *value;
    if (type == 0) return found;
    if (*value > rest_.size()) return broken();
    found.bytes = rest_.substr(0, *value);
    rest_.remove_prefix(*value);
    return found;
  }
  [[nodiscard]] bool malformed() const noexcept { return malformed_; }

 private:
  [[nodiscard]] std::optional<message_field> broken() {
    malformed_ = true;
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::string_view rest_;
  bool malformed_ = false;
};

}  // namespace pgas::trace
