#include "common/serialize.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace pgas::detail {

namespace {

struct error_header {
  std::int32_t code;
  std::int32_t pe;
};

constexpr std::size_t max_text = 8192;

[[noreturn]] void malformed(const std::string& what) {
  throw error(code::bootstrap_protocol,
              what + ". All processes must run the same version of the library, and make the same calls");
}

std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string text_of(const error& failure) {
  std::string text = failure.what();
  const std::string prefix = to_string(failure.code()) + ": ";
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
  return text;
}

blob encode_error(const error& failure) {
  const std::string text = text_of(failure).substr(0, max_text);
  const error_header header{static_cast<std::int32_t>(failure.code()), failure.pe()};
  blob bytes(sizeof(header) + text.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), text.data(), text.size());
  return bytes;
}

error decode_error(std::span<const std::byte> bytes) {
  error_header header{};
  if (bytes.size() < sizeof(header)) malformed("a peer sent a truncated error");
  std::memcpy(&header, bytes.data(), sizeof(header));
  const auto known = error_table();
  const auto is_it = [&](const error_info& row) { return static_cast<std::int32_t>(row.code) == header.code; };
  if (std::none_of(known.begin(), known.end(), is_it))
    malformed("a peer sent an error with a code that does not exist");
  return error(static_cast<pgas::code>(header.code), as_text(bytes.subspan(sizeof(header))), header.pe);
}

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
    fields.push_back(as_text(bytes.first(length)));
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
    const auto length = std::as_bytes(std::span(&bytes, 1));
    packed.insert(packed.end(), length.begin(), length.end());
    packed.insert(packed.end(), part.begin(), part.end());
  }
  return packed;
}

std::vector<blob> unpack(std::span<const std::byte> payload, int size) {
  std::vector<blob> parts(static_cast<std::size_t>(size));
  for (blob& part : parts) {
    std::uint32_t bytes = 0;
    if (payload.size() < sizeof(bytes)) malformed("the result of an exchange ends early");
    std::memcpy(&bytes, payload.data(), sizeof(bytes));
    payload = payload.subspan(sizeof(bytes));
    if (bytes > payload.size()) malformed("a contribution is longer than the result that holds it");
    part.assign(payload.begin(), payload.begin() + bytes);
    payload = payload.subspan(bytes);
  }
  if (!payload.empty()) malformed("the result of an exchange goes on after its last contribution");
  return parts;
}

}  // namespace pgas::detail
