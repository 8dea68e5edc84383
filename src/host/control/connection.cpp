#include "host/control/connection.hpp"

#include <poll.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace pgas::detail {

int connection::send_whole(std::span<const std::byte> head, std::span<const std::byte> body, std::span<const int> fds,
                           const std::function<bool()>& patient) {
  const auto unfinished = [](int why) {
    return why == EAGAIN || why == EINPROGRESS || why == ENOBUFS || why == ENOMEM || why == ETOOMANYREFS;
  };
  int why = send(head, body, fds);
  for (bool taken = false; unfinished(why) && patient();) {
    taken = taken || why == EINPROGRESS;
    if (why == EAGAIN || why == EINPROGRESS) {
      pollfd writable{fd(), POLLOUT, 0};
      static_cast<void>(::poll(&writable, 1, 20));
    } else {  // the queue has room, which poll would say at once
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    why = taken ? flush() : send(head, body, fds);
  }
  return unfinished(why) && why != ETOOMANYREFS ? EAGAIN : why;
}

}  // namespace pgas::detail
