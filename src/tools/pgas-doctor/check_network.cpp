#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <fstream>

#include "common/net/address.hpp"
#include "pgas/error.hpp"
#include "tools/pgas-doctor/local_checks.hpp"

namespace pgas::doctor {

namespace {

/// The speed of the interface, such as " (10000 Mb/s)". Empty if the driver does not report it.
std::string speed_of(const std::string& interface) {
  long speed = 0;
  if (!(std::ifstream("/sys/class/net/" + interface + "/speed") >> speed) || speed <= 0) return {};
  return fmt::format(" ({} Mb/s)", speed);
}

/// Interfaces that are up and have an address, without the loopback.
std::vector<std::string> interfaces_up() {
  std::vector<std::string> names;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return names;
  for (const ifaddrs* entry = all; entry != nullptr; entry = entry->ifa_next) {
    const bool internet =
        entry->ifa_addr != nullptr && (entry->ifa_addr->sa_family == AF_INET || entry->ifa_addr->sa_family == AF_INET6);
    if (internet && (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_LOOPBACK) == 0 &&
        std::ranges::find(names, entry->ifa_name) == names.end())
      names.emplace_back(entry->ifa_name);
  }
  ::freeifaddrs(all);
  return names;
}

}  // namespace

row check_interfaces(const config& settings, bool needed) {
  const std::string& asked = settings.socket_ifname;
  if (!asked.empty()) {
    try {
      const detail::host_addresses own = detail::own_addresses(asked);
      return {"interfaces", verdict::ok,
              fmt::format("{}{}, as PGAS_SOCKET_IFNAME asks", asked, speed_of(asked)) +
                  (own.reachable.empty() ? ", which other hosts can't reach" : "")};
    } catch (const error& why) {
      return {"interfaces", needed ? verdict::fails : verdict::unknown, why.what(),
              needed ? "PEs can't say where they listen: joining fails"
                     : "nothing while all PEs share memory; PEs that don't could not join",
              "unset PGAS_SOCKET_IFNAME, or name one that `ip -br address` shows as UP"};
    }
  }
  std::vector<std::string> names = interfaces_up();
  if (names.empty())
    return {"interfaces", needed ? verdict::fails : verdict::ok, "none is up and has an address, but for the loopback",
            needed ? "PEs of other hosts can't be reached" : "",
            needed ? "ip link set eth0 up, and an address for it" : ""};
  for (std::string& name : names) name += speed_of(name);
  return {"interfaces", verdict::ok, fmt::format("{}", fmt::join(names, ", "))};
}

}  // namespace pgas::doctor
