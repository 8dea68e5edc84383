#include "common/net/tcp_socket.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <cerrno>
#include <utility>

#include "common/system_error.hpp"

namespace pgas::detail {

namespace {

void set_option(int fd, int level, int name, int value) {
  static_cast<void>(::setsockopt(fd, level, name, &value, sizeof(value)));  // the socket also works without the option
}

unique_fd new_socket(int family) { return unique_fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

/// If the host has IPv6, opens one socket for both families; otherwise opens a socket for IPv4.
std::optional<tcp_listener> open_anywhere(std::uint16_t port) {
  std::optional<tcp_listener> both = tcp_listener::open(tcp_address::any(AF_INET6, port));
  return both || errno == EADDRINUSE ? std::move(both) : tcp_listener::open(tcp_address::any(AF_INET, port));
}

}  // namespace

std::optional<tcp_listener> tcp_listener::open(const tcp_address& where) {
  unique_fd fd = new_socket(where.family());
  if (!fd) return std::nullopt;
  const int backlog = 4096;  // the kernel uses the smaller of this number and its own limit
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (where.family() == AF_INET6) {
    const in6_addr& bits = reinterpret_cast<const sockaddr_in6*>(where.raw())->sin6_addr;
    set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, IN6_IS_ADDR_UNSPECIFIED(&bits) ? 0 : 1);
  }
  sockaddr_storage own{};
  socklen_t length = sizeof(own);
  auto* const raw = reinterpret_cast<sockaddr*>(&own);
  if (::bind(fd.get(), where.raw(), where.length()) != 0 || ::listen(fd.get(), backlog) != 0 ||
      ::getsockname(fd.get(), raw, &length) != 0) {
    const int number = errno;
    fd.reset();
    errno = number;
    return std::nullopt;
  }
  return tcp_listener(std::move(fd), where.family(), tcp_address::from(raw)->port());
}

tcp_listener::caller tcp_listener::accept() const {
  sockaddr_storage from{};
  socklen_t length = sizeof(from);
  auto* const raw = reinterpret_cast<sockaddr*>(&from);
  connect_result next = accept_next(fd(), raw, &length);
  if (!next.fd) return {unique_fd(), next.error, {}, std::nullopt};
  set_option(next.fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  const std::optional<tcp_address> address = tcp_address::from(raw);
  return {std::move(next.fd), 0, address ? address->text() : "an unknown address", address};
}

tcp_listener listen_anywhere() {
  std::optional<tcp_listener> listener = open_anywhere(0);
  if (!listener) throw_system("listening on a TCP port");
  return std::move(*listener);
}

std::vector<tcp_listener> listen_on(const std::string& interface, std::uint16_t port) {
  std::vector<tcp_listener> listeners;
  const auto add = [&](std::optional<tcp_listener> one) {
    const int number = errno;
    if (one) {
      port = one->port();
      listeners.push_back(std::move(*one));
      return true;
    }
    listeners.clear();
    if (number != EADDRINUSE) throw_system(fmt::format("listening on port {}", port), number);
    return false;
  };
  if (interface.empty()) {
    add(open_anywhere(port));
    return listeners;
  }
  host_addresses own = own_addresses(interface);
  own.reachable.insert(own.reachable.end(), own.loopback.begin(), own.loopback.end());
  for (const tcp_address& where : own.reachable)
    if (!add(tcp_listener::open(where.with_port(port)))) break;
  return listeners;
}

connect_result begin_connect(const tcp_address& address) {
  unique_fd fd = new_socket(address.family());
  if (!fd) return {unique_fd(), errno};
  set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  if (::connect(fd.get(), address.raw(), address.length()) != 0 && errno != EINPROGRESS && errno != EINTR)
    return {unique_fd(), errno};
  return {std::move(fd), 0};
}

int outcome_of_connect(int fd) {
  pollfd writable{fd, POLLOUT, 0};
  if (::poll(&writable, 1, 0) <= 0) return EINPROGRESS;
  int outcome = 0;
  socklen_t length = sizeof(outcome);
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &outcome, &length) == 0 ? outcome : errno;
}

bool is_of_this_host(const tcp_address& address) {
  const unique_fd fd = new_socket(address.family());
  if (!fd) return true;
  // An IPv6 address may represent an IPv4 address.
  if (address.family() == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  const tcp_address where = address.with_port(0);
  return ::bind(fd.get(), where.raw(), where.length()) == 0 || errno != EADDRNOTAVAIL;
}

void watch_for_dead_host(int fd) {
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

}  // namespace pgas::detail
