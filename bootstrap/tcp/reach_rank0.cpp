#include "bootstrap/tcp/reach_rank0.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

#include "bootstrap/error_messages.hpp"
#include "common/net/tcp_connector.hpp"
#include "pgas/error.hpp"

namespace pgas::boot {
namespace {

constexpr milliseconds time_to_connect{5000};
constexpr milliseconds between_attempts{100};

[[noreturn]] void report_failure(const std::vector<tcp_attempt>& attempts, std::string_view problem, const hello& me,
                                 milliseconds allowed) {
  constexpr std::size_t most_reported = 20;
  std::string tried;
  code why = code::bootstrap_timeout;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    if (i < most_reported) tried += (i == 0 ? "" : ", ") + attempts[i].report();
    if (attempts[i].verdict()) why = *attempts[i].verdict();
  }
  if (attempts.empty()) tried = problem;
  throw error{
      why,
      fmt::format("rank {} of {} did not reach rank 0 within {}; tried {}. Check that rank 0 was started with the "
                  "same address, port, run id and secret, and that no firewall is between",
                  me.from, me.size, seconds(allowed), tried),
      0};
}

}  // namespace

proven_socket reach_rank0(const candidates& where, const bits128& key, const hello& me, const deadline& limit) {
  const milliseconds allowed = limit.left();
  std::vector<tcp_attempt> attempts;
  std::string problem = "nothing";
  do {
    if (attempts.empty())
      for (const stream_address& to : where(problem, limit)) attempts.emplace_back(to, key, me, false);
    std::vector<pollfd> waiting;
    for (tcp_attempt& one : attempts) {
      if (!one.active() && clock::now() >= one.due() + between_attempts) one.start(time_to_connect, allowed);
      if (one.advance()) {
        proven_socket socket = one.take();
        watch_for_dead_host(socket.fd.get());
        return socket;
      }
      waiting.push_back(one.awaited());
    }
    const auto nap = std::min(limit.left(), between_attempts);
    (void)::poll(waiting.data(), waiting.size(), static_cast<int>(nap.count()));
  } while (!limit.expired());
  report_failure(attempts, problem, me, allowed);
}

}  // namespace pgas::boot
