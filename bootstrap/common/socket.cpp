#include "bootstrap/common/socket.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>

#include <cerrno>

#include "bootstrap/common/text.hpp"

namespace pgas::boot {

std::pair<unique_fd, unique_fd> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) throw_system("socketpair");
  return {unique_fd{ends[0]}, unique_fd{ends[1]}};
}

bool wait_for_events(int fd, short events, const deadline& limit) {
  for (;;) {
    pollfd one{.fd = fd, .events = events, .revents = 0};
    if (::poll(&one, 1, static_cast<int>(limit.left().count())) > 0) return true;
    if (limit.expired()) return false;
  }
}

int send_all(int fd, std::span<const std::byte> bytes, const deadline& limit) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait_for_events(fd, POLLOUT, limit)) return ETIMEDOUT;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

std::string format_address(const sockaddr* address, socklen_t length) {
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  if (::getnameinfo(address, length, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "(unknown address)";
  const std::string_view text{host};
  // A dual-stack listener sees an IPv4 peer as ::ffff:10.0.0.1; people know it as 10.0.0.1.
  if (text.starts_with("::ffff:") && text.find('.') != text.npos) return fmt::format("{}:{}", text.substr(7), port);
  return fmt::format(fmt::runtime(text.find(':') == text.npos ? "{}:{}" : "[{}]:{}"), text, port);
}

}  // namespace pgas::boot
