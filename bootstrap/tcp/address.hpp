/// @file
/// Network addresses: those of this host, those behind a name, and listeners on them.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "common/unique_fd.hpp"

namespace pgas::boot {

using namespace detail;  // of src/common

/// An IPv4 or IPv6 address with a port.
struct address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] address with_port(std::uint16_t port) const;
  [[nodiscard]] std::string text() const;
};

/// Addresses of this host at which others may reach it, the loopback last; only those of `interface` where one is
/// named. Link-local ones are left out: they mean something else on each host. *Errors* code::bootstrap_unavailable
/// where the interface does not exist or has no address; the message lists those that do. Also where no interface of
/// the host is up.
[[nodiscard]] std::vector<address> own_addresses(const std::string& interface);

/// The addresses of a host name or a literal address, or an empty list and the reason.
[[nodiscard]] std::vector<address> resolve(const std::string& host, std::chrono::milliseconds limit,
                                           std::string& reason);

/// Listening, non-blocking sockets on `port` (0: any) of all addresses of this host, or of one interface.
/// Empty with errno set where the port is taken. *Errors* code::system for anything else.
[[nodiscard]] std::vector<unique_fd> listen_on(const std::string& interface, std::uint16_t port);

/// The port that a listener has.
[[nodiscard]] std::uint16_t port_of(const unique_fd& listener);

}  // namespace pgas::boot
