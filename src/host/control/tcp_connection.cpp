#include "host/control/tcp_connection.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

namespace pgas::detail {

namespace {

/// How many bytes were taken; an errno in `why` where none were.
std::size_t send_some(int fd, std::span<iovec> parts, int& why) {
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  for (;;) {
    const ssize_t sent = ::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno == EINTR) continue;
    why = errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM ? EAGAIN : EPIPE;
    return 0;
  }
}

iovec as_iovec(std::span<const std::byte> bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};  // sendmsg only reads
}

}  // namespace

int tcp_connection::send(std::span<const std::byte> head, std::span<const std::byte> body, std::span<const int> fds) {
  if (!fds.empty()) return EINVAL;
  const std::lock_guard lock(sending_);
  if (const int before = push(); before != 0) return before;
  int why = 0;
  iovec parts[2] = {as_iovec(head), as_iovec(body)};
  const std::size_t sent = send_some(fd(), parts, why);
  if (why != 0) return why;
  if (sent == head.size() + body.size()) return 0;
  unsent_.assign(head.begin(), head.end());
  unsent_.insert(unsent_.end(), body.begin(), body.end());
  sent_ = sent;
  return EINPROGRESS;
}

int tcp_connection::flush() {
  const std::lock_guard lock(sending_);
  return push();
}

int tcp_connection::push() {
  while (sent_ < unsent_.size()) {
    int why = 0;
    iovec rest = as_iovec(std::span<const std::byte>(unsent_).subspan(sent_));
    sent_ += send_some(fd(), std::span(&rest, 1), why);
    if (why != 0) return why;
  }
  unsent_.clear();
  sent_ = 0;
  return 0;
}

tcp_connection::progress tcp_connection::fill(std::span<std::byte> part, std::size_t& have) {
  while (have < part.size()) {
    const ssize_t got = ::recv(fd(), part.data() + have, part.size() - have, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return progress::partial;
    if (got <= 0) return progress::ended;
    have += static_cast<std::size_t>(got);
  }
  return progress::whole;
}

received_packet tcp_connection::receive() {
  received_packet result;
  result.what = received_packet::status::closed;
  if (broken_) return result;
  const auto stopped = [&](progress at) {
    broken_ = at == progress::ended;
    if (at == progress::partial) result.what = received_packet::status::nothing_yet;
    return at != progress::whole;
  };
  const auto header = std::as_writable_bytes(std::span(&header_, 1));
  if (stopped(fill(header, header_bytes_))) return result;
  if (body_bytes_ == 0) {
    if (header_.magic != packet_header::expected_magic || header_.bytes > max_contribution) {
      broken_ = true;
      result.what = received_packet::status::oversized;
      return result;
    }
    packet_.resize(header.size() + header_.bytes);
    std::copy(header.begin(), header.end(), packet_.begin());
  }
  if (stopped(fill(std::span(packet_).subspan(header.size()), body_bytes_))) return result;
  header_bytes_ = 0;
  body_bytes_ = 0;
  result.what = received_packet::status::control_message;
  result.bytes = packet_;
  return result;
}

void tcp_connection::finish() noexcept { static_cast<void>(::shutdown(fd(), SHUT_WR)); }

}  // namespace pgas::detail
