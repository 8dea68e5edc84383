#include "common/net/socket.hpp"

#include <poll.h>

#include <cerrno>

#include "common/system_error.hpp"

namespace pgas::detail {

std::pair<unique_fd, unique_fd> socket_pair(int type) {
  int ends[2];
  if (::socketpair(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) throw_system("socketpair");
  return {unique_fd(ends[0]), unique_fd(ends[1])};
}

connect_result accept_next(int listener, sockaddr* from, socklen_t* length) {
  for (;;) {
    unique_fd fd(::accept4(listener, from, length, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd) return {std::move(fd), 0};
    switch (errno) {
      case EAGAIN: return {};
      case EINTR:
      case ECONNABORTED:
      case EPERM:
      case EPROTO:
      case ENETDOWN:
      case ENETUNREACH:
      case EHOSTDOWN:
      case EHOSTUNREACH: continue;
      default: return {unique_fd(), errno};
    }
  }
}

bool wait_for_events(int fd, short events, const deadline& limit) {
  for (;;) {
    pollfd one{fd, events, 0};
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

int send_now(int fd, std::span<const std::byte> bytes) { return send_all(fd, bytes, deadline(milliseconds(0))); }

receipt receive_some(int fd, std::span<std::byte> into, std::size_t& have) {
  while (have < into.size()) {
    const ssize_t got = ::recv(fd, into.data() + have, into.size() - have, MSG_DONTWAIT);
    if (got > 0)
      have += static_cast<std::size_t>(got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
      return receipt::ended;
    else if (errno == EAGAIN)
      return receipt::partly;
  }
  return receipt::whole;
}

}  // namespace pgas::detail
