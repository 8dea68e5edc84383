/// @file
/// SipHash-2-4 with 128 bits of output: a keyed hash that is short enough to be read at once and strong enough to prove
/// that the other end of a connection knows the job's secret. After J.-P. Aumasson and D. J. Bernstein, "SipHash: a
/// fast short-input PRF", INDOCRYPT 2012; the 128-bit variant is the one that the authors published later.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace pgas::detail {

/// A key, a nonce or an authentication code.
using bits128 = std::array<std::byte, 16>;

[[nodiscard]] bits128 siphash128(const bits128& key, std::span<const std::byte> message);

/// Compares in a time that does not depend on where the two differ.
[[nodiscard]] bool same_bits(const bits128& a, const bits128& b);

/// From the system's generator. *Errors* code::system.
[[nodiscard]] bits128 random_bits();

}  // namespace pgas::detail
