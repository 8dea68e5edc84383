#include "host/world/link_channel.hpp"

#include <poll.h>

#include <cerrno>

namespace pgas::detail {

int link_channel::send_whole(std::span<const std::byte> head, std::span<const std::byte> body, std::span<const int> fds,
                             const std::function<bool()>& patient) {
  const auto unfinished = [](int why) {
    return why == EAGAIN || why == EINPROGRESS || why == ENOBUFS || why == ENOMEM;
  };
  int why = send(head, body, fds);
  for (bool taken = false; unfinished(why) && patient();) {
    taken = taken || why == EINPROGRESS;
    pollfd writable{fd(), POLLOUT, 0};
    static_cast<void>(::poll(&writable, 1, 20));
    why = taken ? flush() : send(head, body, fds);
  }
  return unfinished(why) ? EAGAIN : why;
}

}  // namespace pgas::detail
