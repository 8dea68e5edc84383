#include "host/control/connection.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace pgas::detail {

namespace {

/// The number of bytes that the kernel has taken; if none, `why` is an errno.
std::size_t send_some(int fd, std::span<const std::byte> bytes, int& why) {
  for (;;) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno == EINTR) continue;
    why = errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM ? EAGAIN : EPIPE;
    return 0;
  }
}

}  // namespace

int connection::send_until(std::span<const std::byte> head, std::span<const std::byte> body, std::span<const int> fds,
                           const std::function<bool()>& keep_trying) {
  const auto unfinished = [](int why) {
    return why == EAGAIN || why == EINPROGRESS || why == ENOBUFS || why == ENOMEM || why == ETOOMANYREFS;
  };
  int why = send(head, body, fds);
  for (bool taken = false; unfinished(why) && keep_trying();) {
    taken = taken || why == EINPROGRESS;
    if (why == EAGAIN || why == EINPROGRESS) {
      pollfd writable{fd(), POLLOUT, 0};
      static_cast<void>(::poll(&writable, 1, 20));
    } else {  // the queue has room, so poll() would return at once
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    why = taken ? flush() : send(head, body, fds);
  }
  return unfinished(why) && why != ETOOMANYREFS ? EAGAIN : why;
}

int tcp_connection::send(std::span<const std::byte> head, std::span<const std::byte> body, std::span<const int> fds) {
  if (!fds.empty()) return EINVAL;
  const std::lock_guard lock(sending_);
  if (const int before = push(); before != 0) return before;
  outgoing_.seal(head, body, unsent_);
  const int why = push();
  if (why == 0 || sent_ > 0) return why == EAGAIN ? EINPROGRESS : why;
  unsent_.clear();
  outgoing_.withdraw();
  return why;
}

int tcp_connection::flush() {
  const std::lock_guard lock(sending_);
  return push();
}

int tcp_connection::push() {
  while (sent_ < unsent_.size()) {
    int why = 0;
    sent_ += send_some(fd(), std::span<const std::byte>(unsent_).subspan(sent_), why);
    if (why != 0) return why;
  }
  unsent_.clear();
  sent_ = 0;
  return 0;
}

received_packet tcp_connection::receive() {
  using status = frame_reader<control_header>::status;
  received_packet result;
  switch (incoming_.read(fd())) {
    case status::incomplete: break;
    case status::closed: result.what = received_packet::status::closed; break;
    case status::malformed: result.what = received_packet::status::oversized; break;
    case status::forged:
      forged_ = true;
      result.what = received_packet::status::oversized;
      break;
    case status::complete: result.what = received_packet::status::complete; result.bytes = incoming_.message();
  }
  return result;
}

void tcp_connection::finish() noexcept { static_cast<void>(::shutdown(fd(), SHUT_WR)); }

}  // namespace pgas::detail
