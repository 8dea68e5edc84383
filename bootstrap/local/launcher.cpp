#include "bootstrap/local/launcher.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "bootstrap/common/socket.hpp"
#include "bootstrap/common/text.hpp"
#include "bootstrap/hub/client.hpp"
#include "bootstrap/hub/world_request.hpp"
#include "pgas/error.hpp"

namespace pgas::boot {
namespace {

/// Sends `request` with `descriptor` attached. Returns 0 or the errno.
[[nodiscard]] int send_descriptor(int socket, world_request request, int descriptor, const deadline& limit) {
  iovec content{&request, sizeof request};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof descriptor)]{};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  while (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return errno;
    if (!wait_for_events(socket, POLLOUT, limit)) return ETIMEDOUT;
  }
  return 0;
}

}  // namespace

std::unique_ptr<bootstrap> join_launcher(const bootstrap_options& options) {
  const deadline limit{options.timeout};
  auto [mine, hubs] = socket_pair();
  if (const int number = send_descriptor(options.local_fd, {}, hubs.get(), limit); number != 0)
    throw error{code::bootstrap_unavailable,
                fmt::format("pgasrun's socket, descriptor {}, does not work: {}. Has a wrapper closed it (Python's "
                            "subprocess does, unless pass_fds names it), or has pgasrun ended? To run without it, "
                            "unset PGAS_LOCAL_FD",
                            options.local_fd, errno_text(number))};
  hubs.reset();
  auto member = std::make_unique<star_client>(std::move(mine), options.rank, options.size, options.timeout,
                                              star_client::hub_owner{"pgasrun", -1});
  if (!member->join(limit))
    throw error{
        code::bootstrap_unavailable,
        "pgasrun did not let this process in. It has ended, or the PE that started this process has, or it is of "
        "another version than the library: use the pgasrun that came with it"};
  return member;
}

}  // namespace pgas::boot
