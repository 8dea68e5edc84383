#include "host/share/ticket.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "common/process_identity.hpp"
#include "common/system_error.hpp"
#include "common/unique_fd.hpp"
#include "common/value_bytes.hpp"

namespace pgas::detail {

namespace {

/// The prefix of every ticket's text. A later format has another number.
constexpr std::string_view prefix = "pgas2.";
constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The head of a ticket, which has a fixed size. After the head come the host, the socket, the payload, the
/// description, and the authentication code of all these bytes.
struct ticket_head {
  std::uint64_t id;
  bits128 secret;
  bits128 machine;
  std::uint64_t start;
  std::int64_t expires;
  std::int32_t pid;
  std::uint32_t uid;
  std::int32_t opens;
  std::uint32_t user;
  std::uint8_t kind;
  std::uint8_t host_bytes;
  std::uint8_t socket_bytes;
  std::uint8_t reserved;
  std::uint16_t payload_bytes;
  std::uint16_t also_reserved;
  std::uint32_t description_bytes;
  std::uint32_t more_reserved;
};
static_assert(sizeof(ticket_head) == 88);

constexpr std::size_t max_bytes =
    sizeof(ticket_head) + ticket::max_host_bytes + ticket::max_socket_bytes + ticket::max_payload + sizeof(bits128);
static_assert(prefix.size() + (max_bytes * 4 + 2) / 3 <= ticket::max_plain_text);

[[noreturn]] void damaged(std::string_view why) {
  throw error(code::handle_invalid,
              fmt::format("the ticket {}: copy the complete ticket again, or ask the exporter for a new one", why));
}

std::string to_text(std::span<const std::byte> bytes) {
  std::string text(prefix);
  std::uint32_t bits = 0;
  int have = 0;
  for (const std::byte byte : bytes) {
    bits = bits << 8 | std::to_integer<std::uint32_t>(byte);
    for (have += 8; have >= 6; have -= 6) text += digits[bits >> (have - 6) & 63];
  }
  if (have > 0) text += digits[bits << (6 - have) & 63];
  return text;
}

blob to_bytes(std::string_view text) {
  static constexpr auto values = [] {
    std::array<std::int8_t, 256> table{};
    table.fill(-1);
    for (std::size_t i = 0; i < digits.size(); ++i)
      table[static_cast<unsigned char>(digits[i])] = static_cast<std::int8_t>(i);
    return table;
  }();
  blob bytes;
  std::uint32_t bits = 0;
  int have = 0;
  for (const char letter : text) {
    const std::int8_t value = values[static_cast<unsigned char>(letter)];
    if (value < 0) damaged("contains invalid characters");
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    bytes.push_back(static_cast<std::byte>(bits >> have & 0xff));
  }
  // The last digit has unused bits. These bits must be zero, because otherwise the same ticket would have several
  // texts.
  if (have >= 6 || (bits & ((1u << have) - 1)) != 0) damaged("was cut off or changed");
  return bytes;
}

std::span<const std::byte> bytes_in(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string take_text(std::span<const std::byte>& rest, std::size_t bytes) {
  const auto* start = reinterpret_cast<const char*>(rest.data());
  std::string text(start, bytes);
  rest = rest.subspan(bytes);
  return text;
}

}  // namespace

std::string_view name_of(ticket_kind kind) noexcept {
  switch (kind) {
    case ticket_kind::memory: return "memory";
    case ticket_kind::timeline: return "a timeline";
    case ticket_kind::event: return "an event";
  }
  return "something unknown";
}

std::string name_of(const ticket_exporter& exporter) {
  return fmt::format("process {} on {}", exporter.pid, exporter.host);
}

std::string encode(const ticket& what) {
  const std::string host = what.exporter.host.substr(0, ticket::max_host_bytes);
  if (what.exporter.socket.size() > ticket::max_socket_bytes || what.payload.size() > ticket::max_payload)
    throw error(
        code::invalid_argument,
        fmt::format("a ticket holds at most {} bytes of socket name and {} of contents, not {} and {}",
                    ticket::max_socket_bytes, ticket::max_payload, what.exporter.socket.size(), what.payload.size()));
  if (what.description.size() > ticket::max_description)
    throw error(code::invalid_argument,
                fmt::format("a ticket holds a description of at most {} bytes, not of {}: use a shorter description",
                            ticket::max_description, what.description.size()));
  ticket_head head{};
  head.id = what.id;
  head.secret = what.secret;
  head.machine = what.exporter.machine;
  head.start = what.exporter.start;
  head.expires = what.expires;
  head.pid = what.exporter.pid;
  head.uid = what.exporter.uid;
  head.opens = what.opens;
  head.user = what.user;
  head.kind = static_cast<std::uint8_t>(what.kind);
  head.host_bytes = static_cast<std::uint8_t>(host.size());
  head.socket_bytes = static_cast<std::uint8_t>(what.exporter.socket.size());
  head.payload_bytes = static_cast<std::uint16_t>(what.payload.size());
  head.description_bytes = static_cast<std::uint32_t>(what.description.size());
  blob bytes;
  bytes.reserve(max_bytes + what.description.size());
  const auto append = [&bytes](std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  };
  append(bytes_of(head));
  append(bytes_in(host));
  append(bytes_in(what.exporter.socket));
  append(what.payload);
  append(bytes_in(what.description));
  append(code_over(what.secret, 't', {bytes}));
  return to_text(bytes);
}

ticket decode(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) damaged("is empty");
  text = text.substr(first, text.find_last_not_of(blanks) + 1 - first);
  if (text.size() > ticket::max_text)
    damaged(fmt::format("has {} characters, more than a ticket can have", text.size()));
  if (!text.starts_with(prefix)) {
    if (text.starts_with("pgas") && text.find('.') < 8) damaged("is of another version of pgas");
    damaged("is not a ticket of pgas, which starts with \"pgas2.\"");
  }
  const blob bytes = to_bytes(text.substr(prefix.size()));
  ticket_head head{};
  if (bytes.size() < sizeof head + sizeof(bits128)) damaged("was cut off");
  const std::span<const std::byte> covered = std::span(bytes).first(bytes.size() - sizeof(bits128));
  std::span<const std::byte> rest = covered;
  static_cast<void>(take_value(rest, head));
  bits128 code{};
  std::ranges::copy(std::span(bytes).last(sizeof code), code.begin());
  const std::size_t expected =
      std::size_t{head.host_bytes} + head.socket_bytes + head.payload_bytes + head.description_bytes;
  if (rest.size() < expected) damaged("was cut off");
  if (rest.size() != expected || !same_bits(code, code_over(head.secret, 't', {covered}))) damaged("was changed");
  // Anybody who knows the format can make a ticket with a valid code. The contents are therefore checked below.
  const bool known = head.kind >= static_cast<std::uint8_t>(ticket_kind::memory) &&
                     head.kind <= static_cast<std::uint8_t>(ticket_kind::event);
  if (!known || head.reserved != 0 || head.also_reserved != 0 || head.more_reserved != 0)
    damaged("opens an object that this version does not support");
  if (head.id == 0 || head.pid <= 0 || head.opens < 0 || head.expires < 0 || head.host_bytes > ticket::max_host_bytes ||
      head.socket_bytes > ticket::max_socket_bytes || head.payload_bytes > ticket::max_payload)
    damaged("contradicts itself");
  ticket result;
  result.kind = static_cast<ticket_kind>(head.kind);
  result.id = head.id;
  result.secret = head.secret;
  result.key = code;
  result.exporter.machine = head.machine;
  result.exporter.pid = head.pid;
  result.exporter.start = head.start;
  result.exporter.uid = head.uid;
  result.expires = head.expires;
  result.opens = head.opens;
  result.user = head.user;
  result.exporter.host = take_text(rest, head.host_bytes);
  result.exporter.socket = take_text(rest, head.socket_bytes);
  result.payload.assign(rest.begin(), rest.begin() + head.payload_bytes);
  rest = rest.subspan(head.payload_bytes);
  result.description = take_text(rest, rest.size());
  return result;
}

ticket decode(std::string_view text, ticket_kind kind) {
  ticket which = decode(text);
  if (which.kind == kind) return which;
  throw error(code::handle_invalid, fmt::format("the ticket of {} opens {}, not {}", name_of(which.exporter),
                                                name_of(which.kind), name_of(kind)));
}

bits128 this_machine() {
  static const bits128 machine = [] {
    const std::string id = boot_id();
    if (id.empty() && (errno == EMFILE || errno == ENFILE)) throw_system("boot_id");
    return keyed_hash({}, bytes_in(id.empty() ? host_name() : id));
  }();
  return machine;
}

ticket_exporter this_process(std::string socket) {
  ticket_exporter self;
  self.host = host_name().substr(0, ticket::max_host_bytes);
  self.machine = this_machine();
  self.pid = ::getpid();
  self.start = process_start(self.pid);
  self.uid = ::geteuid();
  self.socket = std::move(socket);
  return self;
}

bits128 code_over(const bits128& secret, char role, std::initializer_list<std::span<const std::byte>> parts) {
  blob message{static_cast<std::byte>(role)};
  for (const std::span<const std::byte> part : parts) message.insert(message.end(), part.begin(), part.end());
  return keyed_hash(secret, message);
}

}  // namespace pgas::detail
