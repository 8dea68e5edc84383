#include "src/tools/pgasrun/hub_registry.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bootstrap/hub/world_request.hpp"

namespace pgas::boot {

worlds::worlds(event_loop& loop, int size, listener told)
    : loop_(loop), told_(std::move(told)), next_world_(static_cast<std::size_t>(size)), ended_(next_world_.size()) {}

void worlds::serve(int rank, int requests) {
  loop_.watch(requests, POLLIN, [this, rank, requests](short) { receive(rank, requests); });
}

void worlds::receive(int rank, int requests) {
  for (;;) {
    world_request request;
    iovec content{&request, sizeof request};
    int descriptor = -1;
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof descriptor)];
    msghdr message{};
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    const ssize_t got = ::recvmsg(requests, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return loop_.forget(requests);  // no process holds the other end any more
    if ((message.msg_flags & MSG_CTRUNC) != 0) told_.turned_away(rank);
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof descriptor))
      continue;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    unique_fd socket{descriptor};
    // Closing it unheard is the answer to a library that speaks otherwise.
    if (static_cast<std::size_t>(got) == sizeof request && request.magic == world_request::expected_magic &&
        request.version == world_request::expected_version)
      attach(rank, std::move(socket));
  }
}

void worlds::attach(int rank, unique_fd socket) {
  const std::size_t world = next_world_[static_cast<std::size_t>(rank)]++;
  if (world == hubs_.size()) {
    auto fresh = std::make_unique<hub>(loop_, static_cast<int>(next_world_.size()));
    fresh->on_abort(told_.aborted);
    fresh->on_silence(told_.fell_silent);
    for (std::size_t other = 0; other < ended_.size(); ++other)
      if (ended_[other]) fresh->lost(static_cast<int>(other), *ended_[other]);
    hubs_.push_back(std::move(fresh));
  }
  // What a PE has left running may come when the world is over; then closing the socket is the answer.
  if (hub* const open = hubs_[world].get()) (void)open->attach(rank, std::move(socket));
}

void worlds::ended(int rank, std::string how) {
  for (const auto& one : hubs_)
    if (one) one->lost(rank, how);
  ended_[static_cast<std::size_t>(rank)] = std::move(how);
}

std::optional<clock::time_point> worlds::due() const {
  std::optional<clock::time_point> first;
  for (const auto& one : hubs_)
    if (one && one->due()) first = first ? std::min(*first, *one->due()) : *one->due();
  return first;
}

void worlds::expire() {
  const auto now = clock::now();
  for (auto& one : hubs_) {
    if (one && one->due() && *one->due() <= now) one->expire();
    if (one && one->over()) one.reset();
  }
}

}  // namespace pgas::boot
