#include "common/keyed_hash.hpp"

#include <fmt/format.h>
#include <sodium.h>
#include <sys/random.h>

#include <cerrno>

#include "common/system_error.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {
namespace {

const unsigned char* raw(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

template <std::size_t Bytes>
std::array<std::byte, Bytes> hash_of(std::span<const std::byte> key, std::span<const std::byte> message) {
  static_assert(Bytes >= crypto_generichash_BYTES_MIN && Bytes <= crypto_generichash_BYTES_MAX);
  std::array<std::byte, Bytes> hash;
  const int status = crypto_generichash(reinterpret_cast<unsigned char*>(hash.data()), hash.size(), raw(message),
                                        message.size(), raw(key), key.size());
  if (status != 0) throw error(code::system, fmt::format("a key of {} bytes is of no use for a hash", key.size()));
  return hash;
}

}  // namespace

bits128 keyed_hash(std::span<const std::byte> key, std::span<const std::byte> message) {
  return hash_of<sizeof(bits128)>(key, message);
}

std::array<std::byte, 64> long_keyed_hash(std::span<const std::byte> key, std::span<const std::byte> message) {
  return hash_of<64>(key, message);
}

bits128 key_of_secret(std::string_view secret, const bits128& salt) {
  constexpr unsigned long long passes = 2;
  constexpr std::size_t memory = std::size_t{8} << 20;
  static_assert(sizeof(bits128) == crypto_pwhash_argon2id_SALTBYTES);
  bits128 key;
  if (crypto_pwhash_argon2id(reinterpret_cast<unsigned char*>(key.data()), key.size(), secret.data(), secret.size(),
                             raw(salt), passes, memory, crypto_pwhash_argon2id_ALG_ARGON2ID13) != 0)
    throw_system("deriving the job's key from PGAS_SECRET, which takes 8 MiB of memory", ENOMEM);
  return key;
}

bool same_bits(const bits128& a, const bits128& b) { return sodium_memcmp(a.data(), b.data(), a.size()) == 0; }

std::string hex_of(const bits128& bits) {
  std::string text;
  for (const std::byte byte : bits) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

bits128 random_bits() {
  bits128 bits;
  if (::getentropy(bits.data(), bits.size()) != 0) throw_system("getentropy");
  return bits;
}

}  // namespace pgas::detail
