#include "common/pack_lists.hpp"

#include <algorithm>
#include <cstdint>

#include "common/encode_error.hpp"
#include "common/value_bytes.hpp"

namespace pgas::detail {

blob join_fields(std::initializer_list<std::string> fields) {
  std::string text;
  for (const std::string& field : fields) text.append(field).push_back('\0');
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::string> split_fields(std::span<const std::byte> bytes) {
  std::vector<std::string> fields;
  for (;;) {
    const auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
    if (end == bytes.end()) return fields;
    const auto length = static_cast<std::size_t>(end - bytes.begin());
    fields.emplace_back(reinterpret_cast<const char*>(bytes.data()), length);
    bytes = bytes.subspan(length + 1);
  }
}

blob pack(std::span<const blob> parts) {
  std::size_t total = 0;
  for (const blob& part : parts) total += sizeof(std::uint32_t) + part.size();
  blob packed;
  packed.reserve(total);
  for (const blob& part : parts) {
    const auto bytes = static_cast<std::uint32_t>(part.size());
    const auto length = bytes_of(bytes);
    packed.insert(packed.end(), length.begin(), length.end());
    packed.insert(packed.end(), part.begin(), part.end());
  }
  return packed;
}

std::vector<blob> unpack(std::span<const std::byte> payload, int size) {
  std::vector<blob> parts(static_cast<std::size_t>(size));
  for (blob& part : parts) {
    std::uint32_t bytes = 0;
    if (!take_value(payload, bytes)) throw_malformed("the result of an exchange ends early");
    if (bytes > payload.size()) throw_malformed("a contribution is longer than the result that holds it");
    part.assign(payload.begin(), payload.begin() + bytes);
    payload = payload.subspan(bytes);
  }
  if (!payload.empty()) throw_malformed("the result of an exchange goes on after its last contribution");
  return parts;
}

}  // namespace pgas::detail
