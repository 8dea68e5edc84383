#include "common/net_interface.hpp"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>
#include <optional>

namespace pgas::detail {

namespace {

/// The address of either family, as an IPv6 address.
std::optional<in6_addr> address_in(const sockaddr* raw) {
  in6_addr bits{};
  if (raw != nullptr && raw->sa_family == AF_INET6) {
    bits = reinterpret_cast<const sockaddr_in6*>(raw)->sin6_addr;
  } else if (raw != nullptr && raw->sa_family == AF_INET) {
    bits.s6_addr[10] = bits.s6_addr[11] = 0xff;
    std::memcpy(bits.s6_addr + 12, &reinterpret_cast<const sockaddr_in*>(raw)->sin_addr, sizeof(in_addr));
  } else {
    return std::nullopt;
  }
  return bits;
}

}  // namespace

std::string interface_of(int socket) {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  ifaddrs* list = nullptr;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &length) != 0 || ::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  const std::optional<in6_addr> wanted = address_in(reinterpret_cast<const sockaddr*>(&own));
  for (const ifaddrs* one = list; wanted && one != nullptr; one = one->ifa_next) {
    const std::optional<in6_addr> has = address_in(one->ifa_addr);
    if (!has || std::memcmp(&*has, &*wanted, sizeof(in6_addr)) != 0) continue;
    const std::string name = one->ifa_name;
    return name.substr(0, name.find(':'));  // "eth0:1" is a second address of eth0
  }
  return {};
}

}  // namespace pgas::detail
