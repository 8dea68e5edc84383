/// @file
/// What two ends of a TCP connection say before they trust one another:
///
///   member -> rank 0   hello       who I am, which world I mean, a nonce
///   rank 0 -> member   challenge   a nonce of its own, and a code over both that only a holder of the key can make
///   member -> rank 0   proof       the member's code over both
///
/// Each code covers both nonces and the whole hello, so neither a recorded handshake nor a changed one is accepted, and
/// the two codes differ by a prefix, so neither can be sent back as the other. After it the connection carries plain
/// frames: this keeps strangers out, it does not hide or protect what is exchanged on a hostile network.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "common/siphash.hpp"
#include "pgas/bootstrap.hpp"

namespace pgas::boot {

using detail::bits128;
using detail::random_bits;
using detail::same_bits;
using detail::siphash128;

struct hello {
  static constexpr std::uint32_t expected_magic = 0x48474750;  // "PGGH"
  static constexpr std::uint32_t expected_version = 1;
  std::uint32_t magic = expected_magic;
  std::uint32_t version = expected_version;
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  std::uint32_t instance = 0;  ///< which of the worlds made at this meeting point, counted from 0
  std::uint32_t reserved = 0;
  bits128 nonce{};
};
static_assert(sizeof(hello) == 40);

struct challenge {
  std::uint32_t magic = hello::expected_magic;
  std::uint32_t version = hello::expected_version;
  bits128 nonce{};
  bits128 code{};
};
static_assert(sizeof(challenge) == 40);

enum class handshake_side : char { rank0 = 'S', member = 'C' };

/// The code that `side` sends in this handshake.
[[nodiscard]] bits128 handshake_code(const bits128& key, handshake_side side, const hello& greeting,
                                     const bits128& nonce);

/// The key of a job that meets at MASTER_ADDR. With a secret it is a real one. Without, it is made of what everyone on
/// the network may know (run id and port), and only keeps jobs that meet by accident apart. The address is left out
/// because ranks may know the same host by different names, the size so that a wrong one gets an answer that says so.
[[nodiscard]] bits128 key_of_job(const bootstrap_options& options);

template <class Message>
[[nodiscard]] std::span<const std::byte> bytes_of(const Message& message) {
  return std::as_bytes(std::span{&message, 1});
}

}  // namespace pgas::boot
