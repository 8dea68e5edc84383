/// @file
/// Keyed hashes (BLAKE2b), by which one process proves to another that it knows a secret, and keys that are derived
/// from secrets. The functions are libsodium's.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace pgas::detail {

/// A key, a nonce or an authentication code.
using bits128 = std::array<std::byte, 16>;

/// @param key 16 to 64 bytes, all of which count; empty for a hash without a key.
[[nodiscard]] bits128 keyed_hash(std::span<const std::byte> key, std::span<const std::byte> message);
/// The same, as long as two keys of a cipher.
[[nodiscard]] std::array<std::byte, 64> long_keyed_hash(std::span<const std::byte> key,
                                                        std::span<const std::byte> message);

/// A key of a secret that a person may have chosen: by Argon2id, which takes 8 MiB and some milliseconds, so that
/// guesses are slow. @param salt a table of guesses serves for one salt only. *Errors* code::system without memory.
[[nodiscard]] bits128 key_of_secret(std::string_view secret, const bits128& salt);

/// Compares in a time that does not depend on where the two differ.
[[nodiscard]] bool same_bits(const bits128& a, const bits128& b);

/// From the system's generator. *Errors* code::system.
[[nodiscard]] bits128 random_bits();

}  // namespace pgas::detail
