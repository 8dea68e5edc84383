/// @file
/// Keyed hashes (BLAKE2b) and keys that are derived from secrets. With a keyed hash, one process proves to another that
/// it knows a secret. libsodium provides the functions.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace pgas::detail {

/// A key, a nonce or an authentication code.
using bits128 = std::array<std::byte, 16>;

/// @param key 16 to 64 bytes, and the hash depends on all of them; empty for a hash without a key.
[[nodiscard]] bits128 keyed_hash(std::span<const std::byte> key, std::span<const std::byte> message);
/// A keyed hash with the length of two cipher keys.
[[nodiscard]] std::array<std::byte, 64> long_keyed_hash(std::span<const std::byte> key,
                                                        std::span<const std::byte> message);

/// Derives a key by Argon2id from a secret that a person may have chosen. A derivation takes 8 MiB and some
/// milliseconds, so guesses are slow.
/// @param salt the salt of the key; hashes that an attacker has computed for one salt are useless for another salt
/// *Errors* code::system if memory is missing.
[[nodiscard]] bits128 key_of_secret(std::string_view secret, const bits128& salt);

/// Compares two hashes in a time that does not depend on their contents.
[[nodiscard]] bool same_bits(const bits128& a, const bits128& b);

/// The value as 32 hexadecimal digits.
[[nodiscard]] std::string hex_of(const bits128& bits);

/// Random bytes of the system's generator. *Errors* code::system.
[[nodiscard]] bits128 random_bits();

}  // namespace pgas::detail
