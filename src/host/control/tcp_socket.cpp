#include "host/control/tcp_socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

const sockaddr_in6& as_v6(const sockaddr* raw) { return *reinterpret_cast<const sockaddr_in6*>(raw); }

bool link_local(const tcp_address& address) {
  return address.family() == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&as_v6(address.raw()).sin6_addr);
}

/// The packets are small and somebody waits for each.
void send_at_once(int fd) {
  const int on = 1;
  static_cast<void>(::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)));  // an improvement, not a need
}

unique_fd new_socket(int family) { return unique_fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

/// Bound to a free port of all addresses, or none.
unique_fd bind_anywhere(int family) {
  unique_fd fd = new_socket(family);
  if (!fd) return fd;
  sockaddr_storage any{};
  any.ss_family = static_cast<sa_family_t>(family);
  const int off = 0;
  if (family == AF_INET6) static_cast<void>(::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)));
  const socklen_t length = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&any), length) != 0) return {};
  return fd;
}

}  // namespace

std::optional<tcp_address> tcp_address::from(const sockaddr* raw) {
  if (raw == nullptr || (raw->sa_family != AF_INET && raw->sa_family != AF_INET6)) return std::nullopt;
  tcp_address address;
  std::memcpy(&address.storage_, raw, raw->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  return address;
}

std::optional<tcp_address> tcp_address::parse(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, why] = std::from_chars(text.data() + colon + 1, end, port);
  if (why != std::errc() || stopped != end) return std::nullopt;
  tcp_address address;
  if (text.front() == '[' && text[colon - 1] == ']') {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage_);
    v6.sin6_family = AF_INET6;
    if (::inet_pton(AF_INET6, text.substr(1, colon - 2).c_str(), &v6.sin6_addr) != 1) return std::nullopt;
  } else {
    auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage_);
    v4.sin_family = AF_INET;
    if (::inet_pton(AF_INET, text.substr(0, colon).c_str(), &v4.sin_addr) != 1) return std::nullopt;
  }
  return address.with_port(port);
}

socklen_t tcp_address::length() const noexcept {
  return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

// The port lies at the same place in both families.
static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));

std::uint16_t tcp_address::port() const noexcept {
  return ntohs(reinterpret_cast<const sockaddr_in&>(storage_).sin_port);
}

tcp_address tcp_address::with_port(std::uint16_t port) const noexcept {
  tcp_address copy = *this;
  reinterpret_cast<sockaddr_in&>(copy.storage_).sin_port = htons(port);
  return copy;
}

std::string tcp_address::text() const {
  char host[INET6_ADDRSTRLEN] = {};
  if (family() == AF_INET6) {
    const in6_addr& bits = as_v6(raw()).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&bits)) {  // an IPv4 caller of a listener for both families
      ::inet_ntop(AF_INET, bits.s6_addr + 12, host, sizeof(host));
      return fmt::format("{}:{}", host, port());
    }
    ::inet_ntop(AF_INET6, &bits, host, sizeof(host));
    return fmt::format("[{}]:{}", host, port());
  }
  ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(storage_).sin_addr, host, sizeof(host));
  return fmt::format("{}:{}", host, port());
}

std::vector<tcp_address> own_addresses(const std::string& interface) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) throw error(code::system, fmt::format("getifaddrs: {}", std::strerror(errno)));
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::vector<tcp_address> reachable;
  std::vector<tcp_address> loopback;
  std::set<std::string> names;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if ((one->ifa_flags & IFF_UP) == 0) continue;
    const std::optional<tcp_address> found = tcp_address::from(one->ifa_addr);
    if (!found || link_local(*found)) continue;
    names.insert(one->ifa_name);
    if (!interface.empty() && interface != one->ifa_name) continue;
    ((one->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : reachable).push_back(*found);
  }
  if (!interface.empty() && reachable.empty() && loopback.empty())
    throw error(code::config_value,
                fmt::format("PGAS_SOCKET_IFNAME={}: no interface of this name is up and has an address; there are: {}",
                            interface, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
  return reachable.empty() ? loopback : reachable;
}

tcp_listener::tcp_listener(int backlog) : fd_(bind_anywhere(AF_INET6)) {
  if (!fd_) {
    family_ = AF_INET;
    fd_ = bind_anywhere(AF_INET);
  }
  sockaddr_storage own{};
  socklen_t length = sizeof(own);
  if (!fd_ || ::listen(fd_.get(), backlog) != 0 ||
      ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&own), &length) != 0)
    throw error(code::system, fmt::format("listening on a TCP port: {}", std::strerror(errno)));
  port_ = tcp_address::from(reinterpret_cast<const sockaddr*>(&own))->port();
}

tcp_listener::caller tcp_listener::accept() const {
  for (;;) {
    sockaddr_storage from{};
    socklen_t length = sizeof(from);
    unique_fd fd(::accept4(fd_.get(), reinterpret_cast<sockaddr*>(&from), &length, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd) {
      send_at_once(fd.get());
      const std::optional<tcp_address> address = tcp_address::from(reinterpret_cast<const sockaddr*>(&from));
      return {std::move(fd), address ? address->text() : "an unknown address"};
    }
    switch (errno) {
      case EAGAIN: return {};
      case EINTR:
      case ECONNABORTED:
      case EPERM:
      case EPROTO:
      case ENETDOWN:
      case ENETUNREACH:
      case EHOSTDOWN:
      case EHOSTUNREACH: continue;  // that connection failed before it was taken; the next one may be good
      default:
        throw error(code::system,
                    fmt::format("accept: {}; where files ran out, raise the limit (ulimit -n)", std::strerror(errno)));
    }
  }
}

connect_result begin_connect(const tcp_address& address) {
  unique_fd fd = new_socket(address.family());
  if (!fd) return {unique_fd(), errno};
  send_at_once(fd.get());
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

}  // namespace pgas::detail
