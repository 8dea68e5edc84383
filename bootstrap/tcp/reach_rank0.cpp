#include "bootstrap/tcp/reach_rank0.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <optional>

#include "bootstrap/error_messages.hpp"
#include "common/net/tcp_connector.hpp"
#include "pgas/error.hpp"

namespace pgas::boot {

proven_socket reach_rank0(const candidates& where, const bits128& key, const hello& me, const deadline& limit) {
  constexpr milliseconds longest_nap{100};
  const milliseconds allowed = limit.left();
  std::optional<tcp_connector> all;
  std::string problem = "nothing";
  do {
    if (!all)
      if (const std::vector<stream_address> to = where(problem, limit); !to.empty())
        all.emplace(to, key, me, allowed, false);
    if (all && all->advance()) {
      proven_socket socket = all->take();
      watch_for_dead_host(socket.fd.get());
      return socket;
    }
    std::vector<pollfd> waiting = all ? all->awaited() : std::vector<pollfd>();
    const auto nap = std::min(limit.left(), longest_nap);
    (void)::poll(waiting.data(), waiting.size(), static_cast<int>(nap.count()));
  } while (!limit.expired());
  throw error{all ? all->verdict().value_or(code::bootstrap_timeout) : code::bootstrap_timeout,
              fmt::format("rank {} of {} did not reach rank 0 within {}; tried {}. Check that rank 0 was started with "
                          "the same address, port, run id and secret, and that no firewall is between",
                          me.from, me.size, seconds(allowed), all ? all->report() : problem),
              0};
}

}  // namespace pgas::boot
