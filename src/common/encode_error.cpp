#include "common/encode_error.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "common/value_bytes.hpp"

namespace pgas::detail {

namespace {

struct error_header {
  std::int32_t code;
  std::int32_t pe;
};

constexpr std::size_t max_text = 8192;

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
  if (!take_value(bytes, header)) throw_malformed("a peer sent a truncated error");
  const auto known = error_table();
  const auto is_it = [&](const error_info& row) { return static_cast<std::int32_t>(row.code) == header.code; };
  if (std::none_of(known.begin(), known.end(), is_it))
    throw_malformed("a peer sent an error with a code that does not exist");
  return error(static_cast<pgas::code>(header.code),
               std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), header.pe);
}

void throw_malformed(const std::string& what) {
  throw error(code::bootstrap_protocol,
              what + ". All processes must run the same version of the library, and make the same calls");
}

}  // namespace pgas::detail
