#include "common/siphash.hpp"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "pgas/error.hpp"

namespace pgas::detail {
namespace {

struct sip_state {
  std::uint64_t v0, v1, v2, v3;

  void rounds(int n) {
    for (; n > 0; --n) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  }
  void take(std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  [[nodiscard]] std::uint64_t fold() const { return v0 ^ v1 ^ v2 ^ v3; }
};

// Words are little-endian, as is every host of a job (common/pack_lists.hpp asserts it).
[[nodiscard]] std::uint64_t load(std::span<const std::byte> bytes) {
  std::uint64_t word = 0;
  std::ranges::copy(bytes, std::as_writable_bytes(std::span{&word, 1}).begin());
  return word;
}

}  // namespace

bits128 siphash128(const bits128& key, std::span<const std::byte> message) {
  const std::uint64_t k0 = load(std::span{key}.first(8));
  const std::uint64_t k1 = load(std::span{key}.last(8));
  sip_state state{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573};
  state.v1 ^= 0xee;  // marks the 128-bit variant

  const std::uint64_t length = message.size();
  for (; message.size() >= 8; message = message.subspan(8)) state.take(load(message.first(8)));
  state.take(load(message) | length << 56);

  std::uint64_t out[2];
  state.v2 ^= 0xee;
  state.rounds(4);
  out[0] = state.fold();
  state.v1 ^= 0xdd;
  state.rounds(4);
  out[1] = state.fold();
  return std::bit_cast<bits128>(out);
}

bool same_bits(const bits128& a, const bits128& b) {
  std::byte difference{0};
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == std::byte{0};
}

bits128 random_bits() {
  bits128 bits;
  if (::getentropy(bits.data(), bits.size()) != 0)
    throw error(code::system, std::string("getentropy: ") + std::strerror(errno));
  return bits;
}

}  // namespace pgas::detail
