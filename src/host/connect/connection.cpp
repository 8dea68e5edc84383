#include "host/connect/connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace pgas::detail {

namespace {

/// Sends bytes without blocking. Returns the number of bytes that Linux has accepted. If Linux accepts no bytes, `why`
/// receives an errno.
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

packet_queue::state packet_queue::send(const outgoing_message& message) {
  const std::lock_guard lock(mutex_);
  if (problem_ != 0) return state::closed;
  const std::size_t bytes = message.content->bytes().size();
  const std::size_t fds = message.content->fd_count();
  std::size_t first_byte = 0;
  std::size_t first_fd = 0;
  do {
    packet next{message.header, message.content, first_byte, first_fd};
    if (!message.one_packet) {  // the header of another PE's packet stays: it also counts lost descriptors
      next.header.bytes = std::min(bytes - first_byte, max_packet);
      next.header.fds = static_cast<std::uint32_t>(std::min(fds - first_fd, max_fds_per_packet));
      next.header.all_bytes = bytes;
      next.header.all_fds = static_cast<std::uint32_t>(fds);
    }
    first_byte += next.header.bytes;
    first_fd += next.header.fds;
    packets_.push_back(std::move(next));
  } while (first_byte < bytes || first_fd < fds);
  const state left = push();
  if (left != state::sent) message.content->keep();
  return left;
}

packet_queue::state packet_queue::send_waiting() {
  const std::lock_guard lock(mutex_);
  return push();
}

int packet_queue::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

std::size_t packet_queue::waiting() const {
  const std::lock_guard lock(mutex_);
  return packets_.size();
}

packet_queue::state packet_queue::push() {
  while (!packets_.empty()) {
    const packet& next = packets_.front();
    int why = 0;
    if (taken_) {
      why = to_.flush();
    } else {
      const auto bytes = std::span(next.content->bytes()).subspan(next.first_byte, next.header.bytes);
      std::span<const int> fds = next.content->fds();  // empty if the descriptors were lost
      fds = fds.size() < next.first_fd + next.header.fds ? std::span<const int>()
                                                         : fds.subspan(next.first_fd, next.header.fds);
      why = to_.send(std::as_bytes(std::span(&next.header, 1)), bytes, fds);
    }
    taken_ = taken_ || why == EINPROGRESS;
    if (why == EAGAIN || why == EINPROGRESS) return state::waiting;
    if (why == ENOBUFS || why == ENOMEM || why == ETOOMANYREFS) return state::crowded;
    if (why != 0) {
      problem_ = why;
      packets_.clear();
      return state::closed;
    }
    taken_ = false;
    packets_.pop_front();
  }
  return state::sent;
}

}  // namespace pgas::detail
