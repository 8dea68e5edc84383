#include "host/connect/peer_descriptor.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "common/pack_lists.hpp"
#include "pgas/device/context.hpp"

namespace pgas::detail {

namespace {

constexpr const char* greeting = "pgas-hello";

/// The mark from which pgas-doctor reads the version of a library without a call into the library.
[[gnu::used]] constexpr char version_mark[] = "@(#)pgas " PGAS_VERSION;

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown";
}

std::string own_namespace(const char* kind) {
  struct stat about {};
  const std::string path = std::string("/proc/self/ns/") + kind;
  return ::stat(path.c_str(), &about) == 0 ? fmt::format("{}:{}", about.st_dev, about.st_ino) : "unknown";
}

std::string boot_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id.empty() ? host_name() : id;
}

constexpr const char* in_directory = "directory";

std::string socket_kind_of(const std::string& socket_directory) {
  return socket_directory.empty() ? "abstract" : in_directory;
}

std::string identity(const std::string& boot, const std::string& socket_kind, const std::string& network) {
  return socket_kind == in_directory ? boot : boot + " " + network;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool parse_number(const std::string& text, std::int64_t& number) {
  const char* const end = text.data() + text.size();
  const auto [stopped, why] = std::from_chars(text.data(), end, number);
  return why == std::errc() && stopped == end;
}

constexpr const char* endpoints_greeting = "pgas-tcp";

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

std::string host_identity(const std::string& socket_directory) {
  return identity(boot_id(), socket_kind_of(socket_directory), own_namespace("net"));
}

std::string random_hex(std::size_t bytes) {
  std::string text;
  for (std::size_t done = 0; done < bytes;) {
    unsigned char bits[64];
    const ssize_t got = ::getrandom(bits, std::min(sizeof(bits), bytes - done), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw error(code::system, fmt::format("getrandom: {}", std::strerror(errno)));
    for (ssize_t i = 0; i < got; ++i) text += fmt::format("{:02x}", bits[i]);
    done += static_cast<std::size_t>(got);
  }
  return text;
}

peer_descriptor make_descriptor(const std::string& socket_directory, const std::string& test_host) {
  peer_descriptor mine;
  mine.version = PGAS_VERSION;
  mine.abi = std::to_string(abi_version);
  mine.host = host_name();
  mine.boot_id = boot_id();
  mine.network_namespace = own_namespace("net");
  mine.pid = std::to_string(::getpid());
  mine.user = std::to_string(::geteuid());
  mine.socket_kind = socket_kind_of(socket_directory);
  mine.socket_name = "pgas-" + random_hex(16);
  mine.secret = random_hex(sizeof(job_secret));
  mine.pid_namespace = own_namespace("pid");
  if (test_host.empty()) return mine;
  mine.host = test_host;
  mine.boot_id += " " + test_host;
  return mine;
}

blob encode(const peer_descriptor& mine) {
  return join_fields({greeting, mine.version, mine.abi, mine.host, mine.boot_id, mine.network_namespace, mine.pid,
                      mine.user, mine.socket_kind, mine.socket_name, mine.secret, mine.failure, mine.pid_namespace,
                      std::to_string(mine.heartbeat_timeout.count())});
}

std::vector<peer_descriptor> decode_descriptors(const std::vector<blob>& all) {
  std::vector<peer_descriptor> descriptors;
  std::optional<int> malformed;
  // The greeting, the version and the ABI are the first fields in every version, so that other versions are recognised.
  // Their errors come before the error of a descriptor with other fields.
  for (int pe = 0; pe < static_cast<int>(all.size()); ++pe) {
    std::vector<std::string> f = split_fields(all[static_cast<std::size_t>(pe)]);
    if (f.size() < 3 || f[0] != greeting)
      throw error(
          code::bootstrap_protocol,
          fmt::format(
              "PE {} did not send the descriptor of a PE of this library: are all processes of the job the same "
              "program, making the same calls?",
              pe),
          pe);
    std::int64_t heartbeat = 0;
    if (f.size() != 14 || f[6].empty() || f[6].size() > 9 ||
        f[6].find_first_not_of("0123456789") != std::string::npos || !parse_number(f[13], heartbeat) || heartbeat <= 0)
      malformed = malformed.value_or(pe);
    f.resize(14);
    descriptors.push_back({std::move(f[1]), std::move(f[2]), std::move(f[3]), std::move(f[4]), std::move(f[5]),
                           std::move(f[6]), std::move(f[7]), std::move(f[8]), std::move(f[9]), std::move(f[10]),
                           std::move(f[11]), std::move(f[12]), std::chrono::milliseconds(heartbeat)});
    const peer_descriptor& first = descriptors.front();
    const peer_descriptor& theirs = descriptors.back();
    if (theirs.version != first.version || theirs.abi != first.abi)
      throw error(
          code::version_mismatch,
          fmt::format("PE 0 runs pgas {} (ABI {}), PE {} runs pgas {} (ABI {}): start all PEs with the same library",
                      first.version, first.abi, pe, theirs.version, theirs.abi),
          pe);
  }
  if (malformed)
    throw error(code::bootstrap_protocol, fmt::format("the descriptor of PE {} is malformed", *malformed), *malformed);
  return descriptors;
}

std::vector<int> hosts_of(const std::vector<peer_descriptor>& all) {
  std::map<std::string, int> known;
  std::vector<int> hosts;
  for (const peer_descriptor& one : all)
    hosts.push_back(
        known.emplace(identity(one.boot_id, one.socket_kind, one.network_namespace), static_cast<int>(known.size()))
            .first->second);
  return hosts;
}

std::optional<error> validate(const std::vector<peer_descriptor>& all) {
  std::map<std::string, std::size_t> first_of_machine;
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    const std::size_t first = first_of_machine.emplace(all[pe].boot_id, pe).first->second;
    if (all[pe].socket_kind != all[first].socket_kind)
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
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    const std::string& share = all[pe].secret;
    bool valid = share.size() == 2 * secret.size();
    for (std::size_t i = 0; valid && i < secret.size(); ++i) {
      const int high = hex_digit(share[2 * i]);
      const int low = hex_digit(share[2 * i + 1]);
      valid = high >= 0 && low >= 0;
      if (valid) secret[i] ^= static_cast<std::byte>(high * 16 + low);
    }
    if (!valid)
      throw error(code::bootstrap_protocol, fmt::format("PE {} sent a malformed secret", pe), static_cast<int>(pe));
  }
  return secret;
}

blob encode(const tcp_endpoints& mine) {
  std::string addresses;
  for (const tcp_address& address : mine.addresses) addresses += (addresses.empty() ? "" : " ") + address.text();
  return join_fields({endpoints_greeting, mine.failure, addresses});
}

tcp_endpoints decode_endpoints(const blob& bytes, int pe) {
  std::optional<tcp_endpoints> endpoints = parse(bytes);
  if (!endpoints) throw error(code::bootstrap_protocol, fmt::format("PE {} did not tell where it listens", pe), pe);
  return std::move(*endpoints);
}

std::chrono::milliseconds least_heartbeat(const std::vector<peer_descriptor>& all) {
  std::chrono::milliseconds least = all.front().heartbeat_timeout;
  for (const peer_descriptor& one : all) least = std::min(least, one.heartbeat_timeout);
  return least;
}

}  // namespace pgas::detail
