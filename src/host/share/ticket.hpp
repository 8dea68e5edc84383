/// @file
/// Tickets. A process gives a ticket to another process. With the ticket, the other process can open an object of the
/// first process. A ticket is text for people and programs, and a struct in the library.
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

/// The kind of object that a ticket opens.
enum class ticket_kind : std::uint8_t { memory = 1, timeline = 2, event = 3 };

/// The name for messages: "memory", "a timeline", "an event".
[[nodiscard]] std::string_view name_of(ticket_kind kind) noexcept;

/// The process that makes tickets, and the address at which it listens.
struct ticket_exporter {
  std::string host;   ///< the name of the host, for messages; cut at max_host_bytes
  bits128 machine{};  ///< identifies the running operating system; equal for all processes that can share descriptors
  pid_t pid = 0;      ///< the process id in the exporter's own namespace
  std::uint64_t start = 0;  ///< process_start() of the exporter
  uid_t uid = 0;
  std::string socket;  ///< "@name" in the abstract namespace, or a path
};

/// A ticket. Expiry, user and number of opens are for messages only: the exporter uses the values that it has stored.
struct ticket {
  static constexpr std::size_t max_plain_text = 1024;  ///< without the description
  static constexpr std::size_t max_description = std::size_t{1} << 20;
  static constexpr std::size_t max_text = max_plain_text + (max_description * 4 + 2) / 3;
  static constexpr std::size_t max_host_bytes = 64;
  static constexpr std::size_t max_socket_bytes = 108;
  static constexpr std::size_t max_payload = 448;

  ticket_kind kind = ticket_kind::memory;
  std::uint64_t id = 0;  ///< a random number, not 0: the ticket's name at the exporter
  bits128 secret{};      ///< proves that a process has the ticket; never sent over the socket
  /// Set by decode(): a code over the whole text. An importer proves that it has the code that the exporter has stored,
  /// so the exporter refuses a ticket whose text was changed.
  bits128 key{};
  ticket_exporter exporter;
  std::int64_t expires = 0;  ///< milliseconds since 1970, 0: never
  std::int32_t opens = 0;    ///< the number of times that the ticket can be opened; 0: no limit
  uid_t user = 0;            ///< the user who may open the ticket
  blob payload;              ///< bytes whose format depends on the kind of the ticket
  std::string description;   ///< text of the program; the library does not read it
};

/// The fabric handle of a piece of memory, for importers on other hosts. Part of the payload of a ticket, after the
/// sharing_description.
struct fabric_piece {
  std::uint64_t bytes;
  std::array<std::byte, 64> handle;
};

/// Writes a ticket as a line of at most ticket::max_plain_text characters plus the description. Each character is a
/// letter, a digit, '-', '_' or '.'. *Errors* invalid_argument if socket, payload or description are too long.
[[nodiscard]] std::string encode(const ticket& what);

/// Reads a ticket from text. White space around the text is ignored.
/// *Errors* handle_invalid: the message says whether the text is no ticket, is of another version, or is damaged. A
/// change of any character is detected.
[[nodiscard]] ticket decode(std::string_view text);
/// Reads a ticket of the given kind. *Errors* as decode() without a kind; also handle_invalid for another kind.
[[nodiscard]] ticket decode(std::string_view text, ticket_kind kind);

/// Describes this process as an exporter that listens at `socket`.
[[nodiscard]] ticket_exporter this_process(std::string socket);
/// Identifies the running operating system. *Errors* system if the process has no free descriptor at the first call.
[[nodiscard]] bits128 this_machine();

/// "process 4711 on node17".
[[nodiscard]] std::string name_of(const ticket_exporter& exporter);

/// A keyed code over the parts, in their order. With the code, each end of a connection proves that it has the ticket.
/// @param role the side that makes the code, so that a code of one side is invalid for the other
[[nodiscard]] bits128 code_over(const bits128& secret, char role,
                                std::initializer_list<std::span<const std::byte>> parts);

}  // namespace pgas::detail
