#include "host/connect/peer_descriptor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <type_traits>
#include <utility>

#include "common/pack_lists.hpp"
#include "common/process_identity.hpp"
#include "common/value_bytes.hpp"
#include "pgas/device/context.hpp"
#include "pgas/version.h"

namespace pgas::detail {

namespace {

constexpr std::string_view greeting = "pgas-hello";
constexpr std::string_view endpoints_greeting = "pgas-tcp";

/// The mark from which pgas-doctor reads the version of a library without a call into the library.
[[gnu::used]] constexpr char version_mark[] = "@(#)pgas " PGAS_VERSION_TEXT;

std::string machine_id() {
  const std::string id = boot_id();
  return id.empty() ? host_name() : id;
}

/// Removes and returns the text before the next zero byte. Empty if the bytes contain no zero byte.
std::optional<std::string_view> take_text(std::span<const std::byte>& bytes) {
  const auto end = std::ranges::find(bytes, std::byte{0});
  if (end == bytes.end()) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              static_cast<std::size_t>(end - bytes.begin()));
  bytes = bytes.subspan(text.size() + 1);
  return text;
}

std::optional<tcp_endpoints> parse(const blob& bytes) {
  const std::vector<std::string> fields = split_fields(bytes);
  if (fields.size() != 3 || fields[0] != endpoints_greeting) return std::nullopt;
  tcp_endpoints endpoints;
  endpoints.failure = fields[1];
  for (std::size_t at = 0; at < fields[2].size();) {
    const std::size_t stop = std::min(fields[2].find(' ', at), fields[2].size());
    const std::optional<tcp_address> address = tcp_address::parse(fields[2].substr(at, stop - at));
    if (!address) return std::nullopt;
    endpoints.addresses.push_back(*address);
    at = stop + 1;
  }
  return endpoints;
}

}  // namespace

std::string peer_descriptor::socket_name() const { return "pgas-" + hex_of(socket); }

std::string host_identity(const std::string& socket_directory) {
  return machine_id() + (socket_directory.empty() ? " " + own_namespace("net") : "");
}

std::string random_name(std::string_view prefix) { return std::string(prefix) + hex_of(random_bits()); }

bits128 short_for(std::string_view text) { return keyed_hash({}, std::as_bytes(std::span(text))); }

peer_descriptor make_descriptor(const std::string& socket_directory, const std::string& test_host) {
  peer_descriptor mine;
  mine.version = PGAS_VERSION_TEXT;
  mine.abi = std::to_string(abi_version);
  mine.host = test_host.empty() ? host_name() : test_host;
  mine.pid = ::getpid();
  mine.user = ::geteuid();
  mine.machine = short_for(machine_id() + " " + test_host);
  mine.network_namespace = short_for(own_namespace("net"));
  mine.pid_namespace = short_for(own_namespace("pid"));
  mine.in_directory = socket_directory.empty() ? 0 : 1;
  mine.socket = random_bits();
  for (std::size_t half : {std::size_t{0}, mine.secret.size() / 2})
    std::ranges::copy(random_bits(), mine.secret.begin() + static_cast<std::ptrdiff_t>(half));
  return mine;
}

blob encode(const peer_descriptor& mine) {
  static_assert(std::is_trivially_copyable_v<peer_numbers> && sizeof(peer_numbers) == 120);
  blob bytes = join_fields({std::string(greeting), mine.version, mine.abi, mine.host, mine.failure});
  const auto numbers = bytes_of(static_cast<const peer_numbers&>(mine));
  bytes.insert(bytes.end(), numbers.begin(), numbers.end());
  return bytes;
}

std::vector<peer_descriptor> decode_descriptors(const std::vector<blob>& all) {
  std::vector<peer_descriptor> descriptors(all.size());
  std::optional<int> malformed;
  // The greeting, the version and the ABI are the first fields in every version, so that other versions are recognised.
  // Errors about these fields are therefore reported before errors about other fields.
  for (int pe = 0; pe < static_cast<int>(all.size()); ++pe) {
    std::span<const std::byte> rest = all[static_cast<std::size_t>(pe)];
    const auto hello = take_text(rest);
    const auto version = take_text(rest);
    const auto abi = take_text(rest);
    if (hello != greeting || !version || !abi)
      throw error(
          code::bootstrap_protocol,
          fmt::format(
              "PE {} did not send the descriptor of a PE of this library: are all processes of the job the same "
              "program, making the same calls?",
              pe),
          pe);
    const peer_descriptor& first = descriptors.front();
    peer_descriptor& theirs = descriptors[static_cast<std::size_t>(pe)];
    theirs.version = *version;
    theirs.abi = *abi;
    if (theirs.version != first.version || theirs.abi != first.abi)
      throw error(
          code::version_mismatch,
          fmt::format("PE 0 runs pgas {} (ABI {}), PE {} runs pgas {} (ABI {}): start all PEs with the same library",
                      first.version, first.abi, pe, theirs.version, theirs.abi),
          pe);
    theirs.host = take_text(rest).value_or("");
    const auto failure = take_text(rest);
    theirs.failure = failure.value_or("");
    if (failure && rest.size() == sizeof(peer_numbers))
      std::memcpy(static_cast<peer_numbers*>(&theirs), rest.data(), sizeof(peer_numbers));
    else
      theirs.pid = 0;
    if (theirs.pid <= 0 || theirs.heartbeat_ms <= 0) malformed = malformed.value_or(pe);
  }
  if (malformed)
    throw error(code::bootstrap_protocol, fmt::format("the descriptor of PE {} is malformed", *malformed), *malformed);
  return descriptors;
}

std::vector<int> hosts_of(const std::vector<peer_descriptor>& all) {
  std::map<std::pair<bits128, bits128>, int> known;
  std::vector<int> hosts;
  for (const peer_descriptor& one : all)
    hosts.push_back(known
                        .emplace(std::pair(one.machine, one.in_directory != 0 ? bits128() : one.network_namespace),
                                 static_cast<int>(known.size()))
                        .first->second);
  return hosts;
}

std::optional<error> validate(const std::vector<peer_descriptor>& all) {
  std::map<bits128, std::size_t> first_of_machine;
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    const std::size_t first = first_of_machine.emplace(all[pe].machine, pe).first->second;
    if (all[pe].in_directory != all[first].in_directory)
      return error(
          code::config_value,
          fmt::format("PGAS_SOCKET_DIR is set on only one of PE {} and PE {}, which run on one machine: set it on all "
                      "PEs or on none",
                      first, pe),
          static_cast<int>(pe));
  }
  const std::vector<int> hosts = hosts_of(all);
  std::map<int, std::size_t> first_of_host;
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    const std::size_t first = first_of_host.emplace(hosts[pe], pe).first->second;
    if (all[pe].user != all[first].user)
      return error(code::authentication,
                   fmt::format("PE {} runs as user {} and PE {} as user {}: start all PEs of a host as the same user",
                               first, all[first].user, pe, all[pe].user),
                   static_cast<int>(pe));
  }
  for (std::size_t pe = 0; pe < all.size(); ++pe)
    if (!all[pe].failure.empty())
      return error(code::system,
                   fmt::format("PE {} (host {}) could not open its socket: {}", pe, all[pe].host, all[pe].failure),
                   static_cast<int>(pe));
  return std::nullopt;
}

job_secret derive_job_key(const std::vector<peer_descriptor>& all) {
  job_secret secret{};
  for (const peer_descriptor& one : all)
    for (std::size_t i = 0; i < secret.size(); ++i) secret[i] ^= one.secret[i];
  return secret;
}

blob encode(const tcp_endpoints& mine) {
  std::string addresses;
  for (const tcp_address& address : mine.addresses) addresses += (addresses.empty() ? "" : " ") + address.text();
  return join_fields({std::string(endpoints_greeting), mine.failure, addresses});
}

tcp_endpoints decode_endpoints(const blob& bytes, int pe) {
  std::optional<tcp_endpoints> endpoints = parse(bytes);
  if (!endpoints) throw error(code::bootstrap_protocol, fmt::format("PE {} did not tell where it listens", pe), pe);
  return std::move(*endpoints);
}

std::chrono::milliseconds least_heartbeat(const std::vector<peer_descriptor>& all) {
  return std::chrono::milliseconds(std::ranges::min(all, {}, &peer_numbers::heartbeat_ms).heartbeat_ms);
}

}  // namespace pgas::detail
