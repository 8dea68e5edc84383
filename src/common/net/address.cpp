#include "common/net/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>

#include "common/system_error.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

const in6_addr& v6_bits(const tcp_address& address) {
  return reinterpret_cast<const sockaddr_in6*>(address.raw())->sin6_addr;
}

}  // namespace

std::optional<tcp_address> tcp_address::from(const sockaddr* raw) {
  if (raw == nullptr || (raw->sa_family != AF_INET && raw->sa_family != AF_INET6)) return std::nullopt;
  tcp_address address;
  std::memcpy(&address.storage_, raw, raw->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  return address;
}

std::optional<tcp_address> tcp_address::parse_host(const std::string& host, std::uint16_t port) {
  tcp_address address = any(AF_INET, port);
  if (::inet_pton(AF_INET, host.c_str(), &reinterpret_cast<sockaddr_in&>(address.storage_).sin_addr) == 1)
    return address;
  address = any(AF_INET6, port);
  if (::inet_pton(AF_INET6, host.c_str(), &reinterpret_cast<sockaddr_in6&>(address.storage_).sin6_addr) == 1)
    return address;
  return std::nullopt;
}

std::optional<tcp_address> tcp_address::parse(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, why] = std::from_chars(text.data() + colon + 1, end, port);
  if (why != std::errc() || stopped != end) return std::nullopt;
  const bool brackets = text.front() == '[' && text[colon - 1] == ']';
  const std::optional<tcp_address> address =
      parse_host(brackets ? text.substr(1, colon - 2) : text.substr(0, colon), port);
  if (address && (address->family() == AF_INET6) != brackets) return std::nullopt;
  return address;
}

tcp_address tcp_address::any(int family, std::uint16_t port) {
  tcp_address all;
  all.storage_.ss_family = static_cast<sa_family_t>(family);
  return all.with_port(port);
}

socklen_t tcp_address::length() const noexcept {
  return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

// The port has the same offset in both families.
static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));

std::uint16_t tcp_address::port() const noexcept {
  return ntohs(reinterpret_cast<const sockaddr_in&>(storage_).sin_port);
}

tcp_address tcp_address::with_port(std::uint16_t port) const noexcept {
  tcp_address copy = *this;
  reinterpret_cast<sockaddr_in&>(copy.storage_).sin_port = htons(port);
  return copy;
}

std::string tcp_address::host() const {
  char host[INET6_ADDRSTRLEN] = {};
  if (family() != AF_INET6)
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(storage_).sin_addr, host, sizeof(host));
  else if (const in6_addr& bits = v6_bits(*this); IN6_IS_ADDR_V4MAPPED(&bits))
    ::inet_ntop(AF_INET, bits.s6_addr + 12, host, sizeof(host));
  else
    ::inet_ntop(AF_INET6, &bits, host, sizeof(host));
  return host;
}

std::string tcp_address::text() const {
  const std::string digits = host();
  return digits.find(':') == std::string::npos ? fmt::format("{}:{}", digits, port())
                                               : fmt::format("[{}]:{}", digits, port());
}

host_addresses own_addresses(const std::string& interface) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) throw_system("getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  host_addresses addresses;
  std::set<std::string> names;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if ((one->ifa_flags & IFF_UP) == 0) continue;
    const std::optional<tcp_address> found = tcp_address::from(one->ifa_addr);
    if (!found || (found->family() == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6_bits(*found)))) continue;
    names.insert(one->ifa_name);
    if (!interface.empty() && interface != one->ifa_name) continue;
    ((one->ifa_flags & IFF_LOOPBACK) != 0 ? addresses.loopback : addresses.reachable).push_back(*found);
  }
  if (!interface.empty() && addresses.reachable.empty() && addresses.loopback.empty())
    throw error(code::config_value,
                fmt::format("PGAS_SOCKET_IFNAME={}: no interface of this name is up and has an address; there are: {}",
                            interface, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
  return addresses;
}

std::string interface_of(int socket) {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  ifaddrs* list = nullptr;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &length) != 0 || ::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  const std::optional<tcp_address> wanted = tcp_address::from(reinterpret_cast<const sockaddr*>(&own));
  for (const ifaddrs* one = list; wanted && one != nullptr; one = one->ifa_next) {
    const std::optional<tcp_address> has = tcp_address::from(one->ifa_addr);
    if (!has || has->host() != wanted->host()) continue;
    const std::string name = one->ifa_name;
    return name.substr(0, name.find(':'));  // "eth0:1" is a second address of eth0
  }
  return {};
}

std::vector<std::string> rdma_ports(const std::filesystem::path& infiniband) {
  std::error_code none;
  std::vector<std::string> ports;
  for (const auto& device : std::filesystem::directory_iterator(infiniband, none)) {
    for (const auto& port : std::filesystem::directory_iterator(device.path() / "ports", none)) {
      std::string state;  // "4: ACTIVE"
      std::getline(std::ifstream(port.path() / "state"), state);
      if (state.find("ACTIVE") == state.npos) continue;
      ports.push_back(fmt::format("{}:{}", device.path().filename().string(), port.path().filename().string()));
    }
  }
  std::sort(ports.begin(), ports.end());
  return ports;
}

}  // namespace pgas::detail
