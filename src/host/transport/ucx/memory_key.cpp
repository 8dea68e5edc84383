#include "host/transport/ucx/memory_key.hpp"

#include <fmt/format.h>

#include <cstring>

#include "pgas/error.hpp"

namespace pgas::detail {
namespace {

struct key_header {
  std::uint64_t magic;
  std::uint64_t checksum;  ///< of all bytes behind it
  std::uint64_t address;
  std::uint64_t bytes;
};

constexpr std::uint64_t key_magic = 0x3159'454b'5843'5550;
constexpr std::size_t sum_from = 2 * sizeof(std::uint64_t);

/// FNV-1a.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0xcbf2'9ce4'8422'2325;
  for (const std::byte one : bytes) sum = (sum ^ static_cast<std::uint64_t>(one)) * 0x100'0000'01b3;
  return sum;
}

}  // namespace

blob ucx_memory_key::packed() const {
  key_header header{key_magic, 0, address, bytes};
  blob made(sizeof header + rkey.size());
  std::memcpy(made.data(), &header, sizeof header);
  if (!rkey.empty()) std::memcpy(made.data() + sizeof header, rkey.data(), rkey.size());
  header.checksum = checksum(std::span(made).subspan(sum_from));
  std::memcpy(made.data(), &header, sizeof header);
  return made;
}

ucx_memory_key ucx_memory_key::unpack(int pe, std::span<const std::byte> packed) {
  key_header header{};
  if (packed.size() > sizeof header) std::memcpy(&header, packed.data(), sizeof header);
  if (header.magic != key_magic || header.checksum != checksum(packed.subspan(sum_from)))
    throw error{code::handle_invalid,
                fmt::format("{} bytes that came as a key of PE {}'s memory are no key", packed.size(), pe), pe};
  const auto rkey = packed.subspan(sizeof header);
  return {header.address, header.bytes, blob(rkey.begin(), rkey.end())};
}

}  // namespace pgas::detail
