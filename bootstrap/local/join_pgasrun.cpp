#include <fmt/format.h>
#include <poll.h>

#include <cerrno>

#include "bootstrap/hub/hub_client.hpp"
#include "bootstrap/hub/hub_protocol.hpp"
#include "bootstrap/join_methods.hpp"
#include "common/net/unix_socket.hpp"
#include "common/system_error.hpp"
#include "common/value_bytes.hpp"
#include "pgas/error.hpp"

namespace pgas::boot {
namespace {

/// Sends a request with one descriptor. Returns 0 or an errno.
[[nodiscard]] int send_request(int socket, const unique_fd& hubs_end, const deadline& limit) {
  const world_request request;
  const int descriptor = hubs_end.get();
  for (;;) {
    const int number = send_packet(socket, bytes_of(request), {}, std::span(&descriptor, 1));
    if (number != EAGAIN) return number;
    if (!wait_for_events(socket, POLLOUT, limit)) return ETIMEDOUT;
  }
}

}  // namespace

std::unique_ptr<bootstrap> join_pgasrun(const bootstrap_options& options) {
  const deadline limit{options.timeout};
  auto [mine, hubs] = socket_pair();
  if (const int number = send_request(options.local_fd, hubs, limit); number != 0)
    throw error{code::bootstrap_unavailable,
                fmt::format("pgasrun's socket, descriptor {}, does not work: {}. Has a wrapper closed it (Python's "
                            "subprocess does, unless pass_fds names it), or has pgasrun ended? To run without it, "
                            "unset PGAS_LOCAL_FD",
                            options.local_fd, errno_text(number))};
  hubs.reset();
  auto member = std::make_unique<hub_client>(std::move(mine), options.rank, options.size, options.timeout,
                                             hub_client::hub_owner{"pgasrun", -1});
  if (!member->join(limit))
    throw error{code::bootstrap_unavailable,
                "pgasrun refused this process: pgasrun or the PE that started this process has ended, or pgasrun has "
                "another version than the library. Use the pgasrun that came with the library"};
  return member;
}

}  // namespace pgas::boot
