#include "host/topology/net_devices.hpp"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>

namespace pgas::detail {

namespace {

/// The address as IPv6 has it, of either family.
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

std::string net_devices(std::vector<std::string> interfaces, const std::filesystem::path& infiniband) {
  if (interfaces.empty()) return {};
  std::sort(interfaces.begin(), interfaces.end());
  interfaces.erase(std::unique(interfaces.begin(), interfaces.end()), interfaces.end());
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
  interfaces.insert(interfaces.end(), ports.begin(), ports.end());
  return fmt::format("{}", fmt::join(interfaces, ","));
}

std::string memory_namespaces() {
  std::string all;
  for (const char* kind : {"ipc", "pid", "net"}) {
    struct stat about {};
    if (::stat(fmt::format("/proc/self/ns/{}", kind).c_str(), &about) == 0)
      all += fmt::format("{} {}:{} ", kind, about.st_dev, about.st_ino);
  }
  return all;
}

}  // namespace pgas::detail
