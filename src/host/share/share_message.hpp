/// @file
/// The messages between importer and exporter, in packets of one UNIX socket:
///
///   importer -> exporter   request   which ticket, a nonce, and a code made with the ticket's secret
///   exporter -> importer   reply     granted: a code over request and reply, the description, first handles
///                                    refused: an error
///   exporter -> importer   reply     more handles, if one packet does not hold all handles
///   exporter -> importer   reply     later: the ticket was revoked, or the memory was freed
///
/// The connection stays open as long as the importer has the memory open. The end of the connection tells each side
/// that the other side has ended. A foreign process that takes the socket's name or connects to it learns nothing
/// useful, because each code is valid for one nonce.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "common/keyed_hash.hpp"
#include "common/unique_fd.hpp"
#include "common/value_bytes.hpp"
#include "device/device.hpp"

namespace pgas::detail {

/// The only packet that an exporter accepts. Any other packet ends the connection.
struct share_request {
  static constexpr std::uint32_t expected_magic = 0x51534750;  // "PGSQ"
  static constexpr std::uint16_t current_version = 2;
  enum class kind : std::uint16_t {
    open = 1,     ///< opens a ticket
    list = 2,     ///< lists the exports of the process; needs no ticket; allowed for the same user and for root
    timeline = 3  ///< opens the timeline that a ticket of memory carries, while the process has the memory open
  };

  std::uint32_t magic = expected_magic;
  std::uint16_t version = current_version;
  kind what = kind::open;
  std::uint64_t ticket = 0;  ///< the id of the ticket
  bits128 nonce{};
  std::int32_t pid = 0;  ///< the process id that the importer reports for itself
  std::uint32_t reserved = 0;
  bits128 code{};  ///< computed over all preceding fields
};
static_assert(sizeof(share_request) == 56);

/// The head of each packet of an exporter. `bytes` bytes follow.
struct share_reply {
  static constexpr std::uint32_t expected_magic = 0x52534750;  // "PGSR"
  enum class status : std::uint16_t { granted = 1, more = 2, refused = 3, revoked = 4, freed = 5, listed = 6 };

  std::uint32_t magic = expected_magic;
  std::uint16_t version = share_request::current_version;
  status what = status::refused;
  std::int32_t error = 0;         ///< a pgas::code if the request is refused; its text follows
  std::uint32_t bytes = 0;        ///< the number of bytes after this head
  std::uint32_t handles = 0;      ///< the number of handles in all packets of the grant
  std::uint32_t description = 0;  ///< the size of the description at the front of the first packet
  bits128 code{};                 ///< set if granted; computed over request and packet, with zeros in place of the code
};
static_assert(sizeof(share_reply) == 40);

/// A handle in a packet. If the handle has a descriptor, the packet carries the descriptors in the order of the
/// handles.
struct share_handle {
  std::uint64_t bytes = 0;  ///< the size of the piece
  std::uint8_t kind = 0;
  std::uint8_t has_fd = 0;
  std::uint8_t foreign = 0;
  std::uint8_t reserved[5] = {};
  std::array<std::byte, 64> data{};
};
static_assert(sizeof(share_handle) == 80);

/// Appends the bytes of a struct.
template <class Value>
void append(blob& to, const Value& value) {
  const auto bytes = bytes_of(value);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// The largest number of handles in one packet, below the operating system's limit on descriptors in a packet.
inline constexpr std::size_t handles_per_packet = 60;
inline constexpr std::size_t max_description = 4096;
inline constexpr std::size_t max_handles = std::size_t{1} << 20;
inline constexpr std::size_t max_share_packet =
    sizeof(share_reply) + max_description + handles_per_packet * sizeof(share_handle);

/// The prefix of the names of exporters' sockets; the process id follows.
inline constexpr std::string_view socket_prefix = "pgas-share-";

/// The time limit for the request on a new connection.
inline constexpr std::chrono::milliseconds request_timeout{2000};

/// The code that an importer sends.
/// @param key the key of the ticket, computed over the ticket's text
[[nodiscard]] inline bits128 code_of(const bits128& key, const share_request& request) {
  return code_over(key, 'i', {bytes_of(request).first(offsetof(share_request, code))});
}
/// The code that an exporter sends. @param packet the head, with any code, and all bytes that follow
[[nodiscard]] inline bits128 code_of(const bits128& key, const share_request& request,
                                     std::span<const std::byte> packet) {
  return code_over(key, 'e',
                   {bytes_of(request), packet.first(offsetof(share_reply, code)), packet.subspan(sizeof(share_reply))});
}

}  // namespace pgas::detail
