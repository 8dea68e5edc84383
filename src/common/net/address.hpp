/// @file
/// IP addresses with a port, and the addresses of this host. Used by the TCP bootstrap and the control plane.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pgas::detail {

/// An IPv4 or IPv6 address with a port.
class tcp_address {
 public:
  tcp_address() = default;
  /// Converts a socket address. Empty for other families.
  [[nodiscard]] static std::optional<tcp_address> from(const sockaddr* raw);
  /// The inverse of text(). Empty for other texts.
  [[nodiscard]] static std::optional<tcp_address> parse(const std::string& text);
  /// The inverse of host(). Empty for other texts, such as names.
  [[nodiscard]] static std::optional<tcp_address> parse_host(const std::string& host, std::uint16_t port);
  /// The wildcard address of a family.
  [[nodiscard]] static tcp_address any(int family, std::uint16_t port);

  [[nodiscard]] const sockaddr* raw() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t length() const noexcept;
  [[nodiscard]] int family() const noexcept { return storage_.ss_family; }
  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] tcp_address with_port(std::uint16_t port) const noexcept;
  /// "10.0.0.1" or "fd00::2". For an IPv4 peer of a listener for both families, the text is the IPv4 address.
  [[nodiscard]] std::string host() const;
  /// "10.0.0.1:4711" or "[fd00::2]:4711".
  [[nodiscard]] std::string text() const;

 private:
  sockaddr_storage storage_{};
};

/// The addresses of this host, without a port. Link-local addresses are left out, because they have another meaning on
/// each host.
struct host_addresses {
  std::vector<tcp_address> reachable;  ///< addresses that other hosts can reach
  std::vector<tcp_address> loopback;
};

/// The addresses of all interfaces that are up, or of `interface` if it is not empty. *Errors* config_value with the
/// existing interfaces if `interface` does not exist; system.
[[nodiscard]] host_addresses own_addresses(const std::string& interface);

/// The name of the network interface that has the local address of `socket`. Empty if no interface has the address.
[[nodiscard]] std::string interface_of(int socket);

/// The active ports of InfiniBand and RoCE, such as "mlx5_0:1", in order.
/// @param infiniband the kernel's list of devices
[[nodiscard]] std::vector<std::string> rdma_ports(const std::filesystem::path& infiniband = "/sys/class/infiniband");

}  // namespace pgas::detail
