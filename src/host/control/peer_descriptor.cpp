#include "host/control/peer_descriptor.hpp"

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

constexpr const char* endpoints_greeting = "pgas-tcp";

std::optional<tcp_endpoints> parse(const blob& bytes) {
  const std::vector<std::string> fields = split_fields(bytes);
  if (fields.size() != 4 || fields[0] != endpoints_greeting) return std::nullopt;
  tcp_endpoints endpoints;
  endpoints.failure = fields[2];
  std::int64_t timeout = 0;
  const char* const end = fields[1].data() + fields[1].size();
  if (const auto [stopped, why] = std::from_chars(fields[1].data(), end, timeout);
      why != std::errc() || stopped != end || timeout <= 0)
    return std::nullopt;
  endpoints.peer_timeout = std::chrono::milliseconds(timeout);
  for (std::size_t at = 0; at < fields[3].size();) {
    const std::size_t stop = std::min(fields[3].find(' ', at), fields[3].size());
    const std::optional<tcp_address> address = tcp_address::parse(fields[3].substr(at, stop - at));
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

peer_descriptor make_descriptor(const std::string& socket_directory) {
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
  return mine;
}

blob encode(const peer_descriptor& mine) {
  return join_fields({greeting, mine.version, mine.abi, mine.host, mine.boot_id, mine.network_namespace, mine.pid,
                      mine.user, mine.socket_kind, mine.socket_name, mine.secret, mine.failure, mine.pid_namespace});
}

std::vector<peer_descriptor> decode_descriptors(const std::vector<blob>& all) {
  std::vector<std::vector<std::string>> fields;
  for (const blob& bytes : all) fields.push_back(split_fields(bytes));
  // The greeting, the version and the ABI are the first fields in every version, so that other versions are recognised.
  for (std::size_t pe = 0; pe < fields.size(); ++pe) {
    if (fields[pe].size() < 3 || fields[pe][0] != greeting)
      throw error(
          code::bootstrap_protocol,
          fmt::format(
              "PE {} did not send the descriptor of a PE of this library: are all processes of the job the same "
              "program, making the same calls?",
              pe),
          static_cast<int>(pe));
    if (fields[pe][1] != fields[0][1] || fields[pe][2] != fields[0][2])
      throw error(
          code::version_mismatch,
          fmt::format("PE 0 runs pgas {} (ABI {}), PE {} runs pgas {} (ABI {}): start all PEs with the same library",
                      fields[0][1], fields[0][2], pe, fields[pe][1], fields[pe][2]),
          static_cast<int>(pe));
  }
  std::vector<peer_descriptor> descriptors;
  for (std::size_t pe = 0; pe < fields.size(); ++pe) {
    const std::vector<std::string>& f = fields[pe];
    if (f.size() != 13 || f[6].empty() || f[6].size() > 9 || f[6].find_first_not_of("0123456789") != std::string::npos)
      throw error(code::bootstrap_protocol, fmt::format("the descriptor of PE {} is malformed", pe),
                  static_cast<int>(pe));
    descriptors.push_back({f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11], f[12]});
  }
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
  return join_fields({endpoints_greeting, std::to_string(mine.peer_timeout.count()), mine.failure, addresses});
}

std::vector<tcp_endpoints> decode_endpoints(const std::vector<blob>& all) {
  std::vector<tcp_endpoints> all_endpoints;
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    std::optional<tcp_endpoints> endpoints = parse(all[pe]);
    if (!endpoints)
      throw error(code::bootstrap_protocol, fmt::format("PE {} did not tell where it listens", pe),
                  static_cast<int>(pe));
    all_endpoints.push_back(std::move(*endpoints));
  }
  return all_endpoints;
}

}  // namespace pgas::detail
