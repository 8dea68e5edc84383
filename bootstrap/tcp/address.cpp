#include "bootstrap/tcp/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "bootstrap/common/bounded_call.hpp"
#include "bootstrap/common/socket.hpp"
#include "bootstrap/common/text.hpp"
#include "pgas/error.hpp"

namespace pgas::boot {
namespace {

[[nodiscard]] std::optional<address> to_address(const sockaddr* from) {
  if (from == nullptr) return std::nullopt;
  address to;
  if (from->sa_family == AF_INET)
    to.length = sizeof(sockaddr_in);
  else if (from->sa_family == AF_INET6)
    to.length = sizeof(sockaddr_in6);
  else
    return std::nullopt;
  std::memcpy(&to.storage, from, to.length);
  return to;
}

[[nodiscard]] bool link_local(const address& one) {
  if (one.storage.ss_family != AF_INET6) return false;
  return IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(&one.storage)->sin6_addr);
}

[[nodiscard]] address any(sa_family_t family) {
  address all;
  all.storage.ss_family = family;
  all.length = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  return all;
}

/// One listener, or an empty descriptor with errno set.
[[nodiscard]] unique_fd listen_at(const address& where, bool both_families) {
  unique_fd socket{::socket(where.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!socket) return {};
  const int on = 1;
  const int only_v6 = both_families ? 0 : 1;
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (where.storage.ss_family == AF_INET6)
    (void)::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, sizeof only_v6);
  if (::bind(socket.get(), where.get(), where.length) != 0 || ::listen(socket.get(), 4096) != 0) {
    const int number = errno;
    socket.reset();
    errno = number;
  }
  return socket;
}

}  // namespace

std::uint16_t address::port() const {
  // The port lies at the same place in both kinds.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

address address::with_port(std::uint16_t port) const {
  address copy = *this;
  reinterpret_cast<sockaddr_in*>(&copy.storage)->sin_port = htons(port);
  return copy;
}

std::string address::text() const { return format_address(get(), length); }

std::vector<address> own_addresses(const std::string& interface) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) throw_system("getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner{list, &::freeifaddrs};

  std::vector<address> reachable;
  std::vector<address> loopback;
  std::set<std::string> names;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if ((one->ifa_flags & IFF_UP) == 0) continue;
    const auto found = to_address(one->ifa_addr);
    if (!found || link_local(*found)) continue;
    names.insert(one->ifa_name);
    if (!interface.empty() && interface != one->ifa_name) continue;
    ((one->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : reachable).push_back(*found);
  }
  if (interface.empty() && reachable.empty() && loopback.empty())
    throw error{code::bootstrap_unavailable,
                "no network interface of this host is up and has an address, not even the loopback. Bring one up (`ip "
                "link set lo up` is enough for PEs of one host), or start the PEs with pgasrun, which needs none"};
  if (reachable.empty() && loopback.empty())
    throw error{code::config_value,
                fmt::format("PGAS_SOCKET_IFNAME={}: no interface of this name is up and has an address; there are: {}",
                            interface, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")))};
  reachable.insert(reachable.end(), loopback.begin(), loopback.end());
  return reachable;
}

std::vector<address> resolve(const std::string& host, std::chrono::milliseconds limit, std::string& reason) {
  struct answer {
    int status = 0;
    std::vector<address> found;
  };
  const auto got = call_with_timeout(limit, [host] {
    answer result;
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    result.status = ::getaddrinfo(host.c_str(), nullptr, &wanted, &list);
    if (result.status != 0) return result;
    for (const addrinfo* one = list; one != nullptr; one = one->ai_next)
      if (const auto found = to_address(one->ai_addr)) result.found.push_back(*found);
    ::freeaddrinfo(list);
    return result;
  });
  if (!got) {
    reason = fmt::format("looking up '{}' took too long", host);
    return {};
  }
  if (got->status != 0) reason = fmt::format("looking up '{}': {}", host, ::gai_strerror(got->status));
  return got->found;
}

std::vector<unique_fd> listen_on(const std::string& interface, std::uint16_t port) {
  std::vector<unique_fd> listeners;
  if (interface.empty()) {
    // One socket for both families where the host has IPv6, else one for IPv4.
    unique_fd one = listen_at(any(AF_INET6).with_port(port), true);
    if (!one && errno != EADDRINUSE) one = listen_at(any(AF_INET).with_port(port), false);
    if (one) listeners.push_back(std::move(one));
  } else {
    for (const address& where : own_addresses(interface)) {
      unique_fd one = listen_at(where.with_port(port), false);
      if (!one) {
        const int number = errno;
        listeners.clear();
        errno = number;
        break;
      }
      port = port_of(one);
      listeners.push_back(std::move(one));
    }
  }
  if (listeners.empty() && errno != EADDRINUSE) throw_system(fmt::format("listening on port {}", port));
  return listeners;
}

std::uint16_t port_of(const unique_fd& listener) {
  address own;
  own.length = sizeof own.storage;
  if (::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&own.storage), &own.length) != 0)
    throw_system("getsockname");
  return own.port();
}

}  // namespace pgas::boot
