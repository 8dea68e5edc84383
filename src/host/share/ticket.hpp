/// @file
/// Tickets: what one process hands to another so that it can open something of it. As text for people and programs, as
/// a struct for the library.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/keyed_hash.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// What a ticket opens.
enum class ticket_kind : std::uint8_t { memory = 1, timeline = 2, event = 3 };

/// The name for messages: "memory", "a timeline", "an event".
[[nodiscard]] std::string_view name_of(ticket_kind kind) noexcept;

/// The process that makes tickets, and where it listens.
struct ticket_exporter {
  std::string host;         ///< its name, for messages; cut at max_host_bytes
  bits128 machine{};        ///< of the running kernel: the same for all processes that can share descriptors
  pid_t pid = 0;            ///< in its own namespace
  std::uint64_t start = 0;  ///< process_start()
  uid_t uid = 0;
  std::string socket;  ///< "@name" in the abstract namespace, or a path
};

/// A ticket. Expiry, user and number of opens are for messages: the exporter goes by what it remembers.
struct ticket {
  static constexpr std::size_t max_plain_text = 1024;  ///< without a description
  static constexpr std::size_t max_description = std::size_t{1} << 20;
  static constexpr std::size_t max_text = max_plain_text + (max_description * 4 + 2) / 3;
  static constexpr std::size_t max_host_bytes = 64;
  static constexpr std::size_t max_socket_bytes = 108;
  static constexpr std::size_t max_payload = 448;

  ticket_kind kind = ticket_kind::memory;
  std::uint64_t id = 0;  ///< random, not 0: the exporter's name for the ticket
  bits128 secret{};      ///< whoever has it has the ticket; never sent over the socket
  bits128 key{};         ///< of decode(): the code over all of the text. Both ends prove that they have it, so that the
                         ///< exporter refuses a text that differs from the one it has made
  ticket_exporter exporter;
  std::int64_t expires = 0;  ///< milliseconds since 1970, 0: never
  std::int32_t opens = 0;    ///< 0: any number
  uid_t user = 0;            ///< who may open it
  blob payload;              ///< by kind
  std::string description;   ///< the program's own, opaque here
};

/// A piece of memory by fabric handle, for importers on other hosts: in the payload of a ticket, behind the
/// sharing_description.
struct fabric_piece {
  std::uint64_t bytes;
  std::array<std::byte, 64> handle;
};

/// One line of at most ticket::max_plain_text characters and what the description takes, each a letter, a digit, '-',
/// '_' or '.'. *Errors* invalid_argument where socket, payload or description are too long.
[[nodiscard]] std::string encode(const ticket& what);

/// The inverse. White space around the text is ignored.
/// *Errors* handle_invalid saying whether the text is no ticket, of another version, or damaged: a change of any
/// character is found.
[[nodiscard]] ticket decode(std::string_view text);
/// The same for a ticket that has to be of this kind. *Errors* also handle_invalid where it is of another.
[[nodiscard]] ticket decode(std::string_view text, ticket_kind kind);

/// This process as an exporter that listens at `socket`.
[[nodiscard]] ticket_exporter this_process(std::string socket);
/// Identifies the running kernel. *Errors* system where the first call has no descriptor left.
[[nodiscard]] bits128 this_machine();

/// "process 4711 on node17".
[[nodiscard]] std::string name_of(const ticket_exporter& exporter);

/// A keyed code over the parts, one after another; each end of a connection proves with it that it has the ticket.
/// @param role of the side that makes it, so that no side's code is good for the other
[[nodiscard]] bits128 code_over(const bits128& secret, char role,
                                std::initializer_list<std::span<const std::byte>> parts);

}  // namespace pgas::detail
