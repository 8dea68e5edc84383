/// @file
/// What importer and exporter say to one another, in packets of one UNIX socket:
///
///   importer -> exporter   request   which ticket, a nonce, and a code that takes the ticket's secret to make
///   exporter -> importer   reply     granted: a code over the request and the reply, what it is, the first handles
///                                    refused: an error
///   exporter -> importer   reply     more handles, where one packet does not hold them all
///   exporter -> importer   reply     later: the ticket was revoked, or the memory was freed
///
/// The connection stays as long as the importer has what it opened: each side learns from its end that the other is
/// gone. Neither a stranger who has taken the socket's name nor one who connects to it gets anything of use from the
/// other side: codes are for one nonce.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "common/keyed_hash.hpp"
#include "common/net/socket.hpp"
#include "common/unique_fd.hpp"
#include "device/device.hpp"

namespace pgas::detail {

/// The only packet that an exporter takes; all others end the connection.
struct share_request {
  static constexpr std::uint32_t expected_magic = 0x51534750;  // "PGSQ"
  static constexpr std::uint16_t current_version = 2;
  enum class kind : std::uint16_t {
    open = 1,     ///< a ticket
    list = 2,     ///< what this process exports: for its own user and root, without a ticket
    timeline = 3  ///< that which a ticket of memory carries, while the process has the memory open by it
  };

  std::uint32_t magic = expected_magic;
  std::uint16_t version = current_version;
  kind what = kind::open;
  std::uint64_t ticket = 0;  ///< its id
  bits128 nonce{};
  std::int32_t pid = 0;  ///< as the importer calls itself
  std::uint32_t reserved = 0;
  bits128 code{};  ///< over all before it
};
static_assert(sizeof(share_request) == 56);

/// What begins each packet of an exporter; `bytes` follow.
struct share_reply {
  static constexpr std::uint32_t expected_magic = 0x52534750;  // "PGSR"
  enum class status : std::uint16_t { granted = 1, more = 2, refused = 3, revoked = 4, freed = 5, listed = 6 };

  std::uint32_t magic = expected_magic;
  std::uint16_t version = share_request::current_version;
  status what = status::refused;
  std::int32_t error = 0;         ///< pgas::code where refused; the text follows
  std::uint32_t bytes = 0;        ///< behind this head
  std::uint32_t handles = 0;      ///< in all packets of the grant
  std::uint32_t description = 0;  ///< bytes of it at the front of the first packet
  bits128 code{};                 ///< where granted: over request and packet, with zeros in its own place
};
static_assert(sizeof(share_reply) == 40);

/// A handle in a packet. Its descriptor, if it has one, travels beside, in order.
struct share_handle {
  std::uint64_t bytes = 0;  ///< of the piece
  std::uint8_t kind = 0;
  std::uint8_t has_fd = 0;
  std::uint8_t foreign = 0;
  std::uint8_t reserved[5] = {};
  std::array<std::byte, 64> data{};
};
static_assert(sizeof(share_handle) == 80);

/// Appends a struct as its bytes.
template <class Value>
void append(blob& to, const Value& value) {
  const auto bytes = bytes_of(value);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// So many handles fit one packet, by the kernel's limit on descriptors.
inline constexpr std::size_t handles_per_packet = 60;
inline constexpr std::size_t max_description = 4096;
inline constexpr std::size_t max_handles = std::size_t{1} << 20;
inline constexpr std::size_t max_share_packet =
    sizeof(share_reply) + max_description + handles_per_packet * sizeof(share_handle);

/// What names of exporters' sockets begin with; the number of the process follows.
inline constexpr std::string_view socket_prefix = "pgas-share-";

/// How long a connection may take to say what it wants.
inline constexpr std::chrono::milliseconds request_timeout{2000};

/// The code that an importer sends.
/// @param key of the ticket, as of all that its text says
[[nodiscard]] inline bits128 code_of(const bits128& key, const share_request& request) {
  return code_over(key, 'i', {bytes_of(request).first(offsetof(share_request, code))});
}
/// The code that an exporter sends. @param packet head, with whatever code, and all that follows
[[nodiscard]] inline bits128 code_of(const bits128& key, const share_request& request,
                                     std::span<const std::byte> packet) {
  return code_over(key, 'e',
                   {bytes_of(request), packet.first(offsetof(share_reply, code)), packet.subspan(sizeof(share_reply))});
}

}  // namespace pgas::detail
