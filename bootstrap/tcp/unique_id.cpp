#include "bootstrap/tcp/unique_id.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <utility>

#include "common/struct_members.hpp"
#include "common/system_error.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas::boot {
namespace {

constexpr std::string_view prefix = "pgas1-";

/// Parses `text` as one hexadecimal number.
template <class Number>
[[nodiscard]] bool parse_hex(std::string_view text, Number& to) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), to, 16);
  return status == std::errc{} && end == text.data() + text.size();
}

/// Removes and returns the text before the next `mark`.
[[nodiscard]] std::string_view take_until(std::string_view& text, char mark) {
  const auto end = text.find(mark);
  const auto head = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return head;
}

}  // namespace

std::string unique_id::print(std::size_t most) const {
  std::string text = fmt::format("{}{:x}-", prefix, addresses.at(0).port());
  for (const std::byte b : secret) text += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  const std::string last = addresses.back().host();
  char separator = '-';
  for (std::size_t i = 0; i + 1 < addresses.size(); ++i) {
    const std::string host = addresses[i].host();
    if (text.size() + host.size() + last.size() + 2 > most) continue;
    text += std::exchange(separator, ',') + host;
  }
  return text + separator + last;
}

unique_id unique_id::parse(std::string_view text) {
  const auto reject = [&](std::string_view why) {
    return error{
        code::bootstrap_protocol,
        fmt::format("the unique id ({} characters, not shown because a secret is in it) is not usable: {}. Pass "
                    "on unchanged what make_unique_id() returned",
                    text.size(), why)};
  };
  if (text.size() > longest) throw reject("it is longer than any");
  if (!text.starts_with(prefix)) throw reject("it does not start with 'pgas1-'");
  std::string_view rest = text.substr(prefix.size());

  unique_id id;
  std::uint16_t port = 0;
  if (!parse_hex(take_until(rest, '-'), port) || port == 0) throw reject("the port is malformed");
  const std::string_view secret = take_until(rest, '-');
  if (secret.size() != 2 * id.secret.size()) throw reject("the secret is cut short");
  for (std::size_t i = 0; i < id.secret.size(); ++i) {
    std::uint8_t value = 0;
    if (!parse_hex(secret.substr(2 * i, 2), value)) throw reject("the secret is malformed");
    id.secret[i] = std::byte{value};
  }
  if (rest.ends_with(',')) throw reject("an address is missing");
  do {
    const auto one = tcp_address::parse_host(std::string{take_until(rest, ',')}, port);
    if (!one) throw reject("an address is malformed");
    id.addresses.push_back(*one);
  } while (!rest.empty());
  return id;
}

}  // namespace pgas::boot

namespace pgas {

std::string detail::make_unique_id(const given<bootstrap_options>& passed) {
  using namespace boot;
  const bootstrap_options options = taken(passed);
  auto listeners = listen_on(options.interface, 0);
  if (listeners.empty()) throw_system("opening a listener for a unique id", EADDRINUSE);
  host_addresses own = own_addresses(options.interface);
  own.reachable.insert(own.reachable.end(), own.loopback.begin(), own.loopback.end());
  if (own.reachable.empty())
    throw error{code::bootstrap_unavailable,
                "no network interface of this host is up and has an address, not even the loopback. Bring one up (`ip "
                "link set lo up` is enough for PEs of one host), or start the PEs with pgasrun, which needs none"};
  unique_id id{random_bits(), {}};
  for (const tcp_address& one : own.reachable) id.addresses.push_back(one.with_port(listeners.front().port()));
  std::string text = id.print(options.unique_id_length);
  keep_for_rank0(text, std::move(listeners));
  return text;
}

}  // namespace pgas
