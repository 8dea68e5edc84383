/// @file
/// TCP sockets between hosts: the addresses of this one, a listener, connections; and nothing of what is said over
/// them.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/unique_fd.hpp"
#include "host/control/unix_socket.hpp"

namespace pgas::detail {

/// An IPv4 or IPv6 address with a port.
class tcp_address {
 public:
  /// None for another family.
  [[nodiscard]] static std::optional<tcp_address> from(const sockaddr* raw);
  /// What text() printed; none for anything else.
  [[nodiscard]] static std::optional<tcp_address> parse(const std::string& text);

  [[nodiscard]] const sockaddr* raw() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t length() const noexcept;
  [[nodiscard]] int family() const noexcept { return storage_.ss_family; }
  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] tcp_address with_port(std::uint16_t port) const noexcept;
  /// "10.0.0.1:4711" or "[fd00::2]:4711".
  [[nodiscard]] std::string text() const;

 private:
  sockaddr_storage storage_{};
};

/// Addresses at which other hosts may reach this one, without a port: of all interfaces that are up, or of `interface`
/// where one is named. The loopback is among them only where there is nothing else; link-local ones never, as they mean
/// something else on each host. *Errors* config_value naming the interfaces there are, where `interface` is none.
[[nodiscard]] std::vector<tcp_address> own_addresses(const std::string& interface);

/// A listening socket on a free port of all addresses, of both families where the host has both.
class tcp_listener {
 public:
  /// *Errors* system.
  explicit tcp_listener(int backlog);

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Whether it takes connections to addresses of this family.
  [[nodiscard]] bool takes(int family) const noexcept { return family == AF_INET || family == family_; }

  struct caller {
    unique_fd fd;
    std::string address;
  };
  /// The next waiting connection; no descriptor when there is none. *Errors* system when descriptors run out.
  [[nodiscard]] caller accept() const;

 private:
  unique_fd fd_;
  int family_ = AF_INET6;
  std::uint16_t port_ = 0;
};

/// Begins to connect, without waiting: the descriptor becomes writable when it is done. An errno that says why it can't
/// be done is in the result.
[[nodiscard]] connect_result begin_connect(const tcp_address& address);
/// What became of it: 0, EINPROGRESS or another errno.
[[nodiscard]] int outcome_of_connect(int fd);

}  // namespace pgas::detail
