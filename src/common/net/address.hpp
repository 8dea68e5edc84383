/// @file
/// IP addresses with a port, and those of this host. Used by the TCP bootstrap and the control plane.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pgas::detail {

/// An IPv4 or IPv6 address with a port.
class tcp_address {
 public:
  tcp_address() = default;
  /// None for another family.
  [[nodiscard]] static std::optional<tcp_address> from(const sockaddr* raw);
  /// The inverse of text(); none for anything else.
  [[nodiscard]] static std::optional<tcp_address> parse(const std::string& text);
  /// The inverse of host(); none for anything else, names among it.
  [[nodiscard]] static std::optional<tcp_address> parse_host(const std::string& host, std::uint16_t port);
  /// All addresses of a family.
  [[nodiscard]] static tcp_address any(int family, std::uint16_t port);

  [[nodiscard]] const sockaddr* raw() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t length() const noexcept;
  [[nodiscard]] int family() const noexcept { return storage_.ss_family; }
  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] tcp_address with_port(std::uint16_t port) const noexcept;
  /// "10.0.0.1" or "fd00::2"; an IPv4 peer of a listener for both families has its IPv4 address.
  [[nodiscard]] std::string host() const;
  /// "10.0.0.1:4711" or "[fd00::2]:4711".
  [[nodiscard]] std::string text() const;

 private:
  sockaddr_storage storage_{};
};

/// Addresses of this host, without a port. Link-local ones are left out: they mean something else on each host.
struct host_addresses {
  std::vector<tcp_address> reachable;  ///< for other hosts
  std::vector<tcp_address> loopback;
};

/// Of all interfaces that are up, or of `interface` where one is named. *Errors* config_value naming the interfaces
/// there are, where `interface` is none of them; system.
[[nodiscard]] host_addresses own_addresses(const std::string& interface);

/// The name of the network interface that has the local address of `socket`; empty where there is none.
[[nodiscard]] std::string interface_of(int socket);

}  // namespace pgas::detail
