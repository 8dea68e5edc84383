#include "common/net/local_stream.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

namespace pgas::detail {

namespace {

unique_fd new_stream(int family) { return unique_fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

}  // namespace

unique_fd listen_for_streams(const unix_address& address, int backlog) {
  unique_fd fd = new_stream(AF_UNIX);
  if (!fd) return fd;
  if (::bind(fd.get(), address.raw(), address.length()) != 0 || ::listen(fd.get(), backlog) != 0) {
    const int why = errno;
    fd.reset();
    errno = why;
  }
  return fd;
}

connect_result connect_stream(const unix_address& address) {
  unique_fd fd = new_stream(AF_UNIX);
  if (!fd) return {unique_fd(), errno};
  while (::connect(fd.get(), address.raw(), address.length()) != 0)
    if (errno != EINTR) return {unique_fd(), errno};
  return {std::move(fd), 0};
}

std::optional<tcp_address> peer_address(int socket) {
  sockaddr_storage peer{};
  socklen_t length = sizeof(peer);
  auto* const raw = reinterpret_cast<sockaddr*>(&peer);
  if (::getpeername(socket, raw, &length) != 0) return std::nullopt;
  return tcp_address::from(raw);
}

bool is_of_this_host(const tcp_address& address) {
  const unique_fd fd = new_stream(address.family());
  if (!fd) return true;
  const int both = 0;  // an IPv6 address may be that of an IPv4 one
  if (address.family() == AF_INET6)
    static_cast<void>(::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof(both)));
  const tcp_address where = address.with_port(0);
  return ::bind(fd.get(), where.raw(), where.length()) == 0 || errno != EADDRNOTAVAIL;
}

}  // namespace pgas::detail
