/// @file
/// Listeners and connections over TCP. Nagle's algorithm is off at both ends, because messages are small and a receiver
/// waits for each message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/net/address.hpp"
#include "common/net/socket.hpp"

namespace pgas::detail {

/// A listening socket.
class tcp_listener {
 public:
  /// Listens at one address. The IPv6 address of any() includes IPv4. Empty with errno set on failure.
  [[nodiscard]] static std::optional<tcp_listener> open(const tcp_address& where);

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Whether the listener accepts connections to addresses of this family.
  [[nodiscard]] bool takes(int family) const noexcept { return family == AF_INET || family == family_; }

  struct caller {
    unique_fd fd;  ///< empty if no connection waits, or after an error
    int error = 0;
    std::string address;              ///< the address of the other end, for messages
    std::optional<tcp_address> peer;  ///< empty if the kernel does not report the address
  };
  /// Accepts the next waiting connection, see accept_next().
  [[nodiscard]] caller accept() const;

 private:
  tcp_listener(unique_fd fd, int family, std::uint16_t port) : fd_(std::move(fd)), family_(family), port_(port) {}

  unique_fd fd_;
  int family_;
  std::uint16_t port_;
};

/// Listens on a free port of all addresses, of both families if the host has both. *Errors* system.
[[nodiscard]] tcp_listener listen_anywhere();
/// Listens on `port` at all addresses of this host, or at the addresses of one interface. If `port` is 0, chooses a
/// free port, which all listeners use. Empty if the port is in use. *Errors* system; the errors of own_addresses().
[[nodiscard]] std::vector<tcp_listener> listen_on(const std::string& interface, std::uint16_t port);

/// Begins to connect without waiting. The descriptor becomes writable when the attempt has ended.
[[nodiscard]] connect_result begin_connect(const tcp_address& address);
/// The outcome of begin_connect(): 0, EINPROGRESS or another errno.
[[nodiscard]] int outcome_of_connect(int fd);

/// Whether the address belongs to this host. True if the system does not report this.
[[nodiscard]] bool is_of_this_host(const tcp_address& address);

/// Makes the kernel detect within 30 s that the other host does not answer. For connections that may be silent.
void watch_for_dead_host(int fd);

}  // namespace pgas::detail
