/// @file
/// Listeners and connections over TCP. Both ends have Nagle's algorithm off: messages are small and somebody waits for
/// each.
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
  /// At one address, which for IPv6's any() is that of IPv4, too; none with errno set where that cannot be.
  [[nodiscard]] static std::optional<tcp_listener> open(const tcp_address& where);

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Whether it takes connections to addresses of this family.
  [[nodiscard]] bool takes(int family) const noexcept { return family == AF_INET || family == family_; }

  struct caller {
    unique_fd fd;  ///< none where nobody waits, or after an error
    int error = 0;
    std::string address;              ///< of the other end, for messages
    std::optional<tcp_address> peer;  ///< none if the kernel does not tell it
  };
  /// The next connection that waits, see accept_next().
  [[nodiscard]] caller accept() const;

 private:
  tcp_listener(unique_fd fd, int family, std::uint16_t port) : fd_(std::move(fd)), family_(family), port_(port) {}

  unique_fd fd_;
  int family_;
  std::uint16_t port_;
};

/// A listener on a free port of all addresses, of both families where the host has both. *Errors* system.
[[nodiscard]] tcp_listener listen_anywhere();
/// Listeners on `port` (0: any, the same for all) of all addresses of this host, or of one interface. Empty where the
/// port is taken. *Errors* system; those of own_addresses().
[[nodiscard]] std::vector<tcp_listener> listen_on(const std::string& interface, std::uint16_t port);

/// Begins to connect, without waiting: the descriptor becomes writable when it is done.
[[nodiscard]] connect_result begin_connect(const tcp_address& address);
/// The outcome of that: 0, EINPROGRESS or another errno.
[[nodiscard]] int outcome_of_connect(int fd);

/// Whether the address belongs to this host; also if that is not known.
[[nodiscard]] bool is_of_this_host(const tcp_address& address);

/// Has the kernel find out within 30 s that the other host is gone, for connections without messages of their own.
void watch_for_dead_host(int fd);

}  // namespace pgas::detail
