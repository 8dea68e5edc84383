// TCP between the hosts of a job, in both directions.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>

#include "common/deadline.hpp"
#include "common/net/tcp_socket.hpp"
#include "common/system_error.hpp"
#include "tools/pgas-doctor/job_checks.hpp"

namespace pgas::doctor {

namespace {

/// The reason why a PE could not be reached, and the remedy.
struct refusal {
  std::string why;  ///< empty if the PE was reached
  std::string fix;
};

/// The ports that the system gives to listeners that request no port: "32768-60999".
std::string port_range() {
  int first = 32768;
  int last = 60999;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first >> last;
  return fmt::format("{}-{}", first, last);
}

refusal try_addresses(const std::vector<detail::tcp_address>& addresses, std::chrono::milliseconds limit) {
  const std::string no_interface = "ip -br address on its host: one must be UP and have an address";
  if (addresses.empty()) return {"it has no address: none of its interfaces is up", no_interface};
  refusal result;
  bool routed = false;
  for (const detail::tcp_address& to : addresses) {
    detail::connect_result attempt = detail::begin_connect(to);
    int outcome = attempt.error;
    if (attempt.fd) {
      const detail::deadline until(limit);
      do {
        pollfd writable{attempt.fd.get(), POLLOUT, 0};
        (void)::poll(&writable, 1, static_cast<int>(until.left().count()));
        outcome = detail::outcome_of_connect(attempt.fd.get());
      } while (outcome == EINPROGRESS && !until.expired());
    }
    if (outcome == 0) return {};
    routed = routed || (outcome != ENETUNREACH && outcome != EHOSTUNREACH && outcome != EADDRNOTAVAIL);
    result.why += fmt::format("{}{} ({})", result.why.empty() ? "" : ", ", to.text(),
                              outcome == EINPROGRESS ? "no answer" : detail::errno_text(outcome));
  }
  const bool loopback_only = std::ranges::all_of(addresses, [](const detail::tcp_address& address) {
    return address.host().starts_with("127.") || address.host() == "::1";
  });
  if (loopback_only)
    result.fix = no_interface;
  else if (routed)
    result.fix = fmt::format(
        "firewall-cmd --add-port={}/tcp on both hosts, or ufw allow; PGAS_SOCKET_IFNAME=eth0 where the "
        "addresses are of the wrong network",
        port_range());
  else
    result.fix = fmt::format("ip route get {} on this host: there is no way to it", addresses.front().host());
  return result;
}

/// The PEs to which this PE connects: all PEs of other hosts, or only the first PE of each host if there are many PEs.
std::vector<int> targets(const job& all) {
  constexpr int many = 16;
  std::vector<int> found;
  std::vector<int> seen;
  for (int pe = 0; pe < all.n(); ++pe) {
    const int host = all.host_of[static_cast<std::size_t>(pe)];
    if (host == all.host_of[static_cast<std::size_t>(all.me)]) continue;
    if (all.n() > many && std::ranges::find(seen, host) != seen.end()) continue;
    seen.push_back(host);
    found.push_back(pe);
  }
  return found;
}

}  // namespace

std::vector<row> check_tcp_between_hosts(const job& all, const config& settings, bootstrap& exchange,
                                         const request& how) {
  if (all.hosts() == 1) return {};
  detail::tcp_endpoints mine;
  std::optional<detail::tcp_listener> listener;
  try {
    listener.emplace(detail::listen_anywhere());
    const detail::host_addresses own = detail::own_addresses(settings.socket_ifname);
    for (const detail::tcp_address& address : own.reachable.empty() ? own.loopback : own.reachable)
      if (listener->takes(address.family())) mine.addresses.push_back(address.with_port(listener->port()));
  } catch (const error& why) {
    mine.failure = why.what();
  }
  const std::vector<blob> endpoints = exchange.all_gather(detail::encode(mine));
  row result{"ports", verdict::ok, ""};
  const std::chrono::milliseconds limit(how.quick ? 1000 : 3000);
  refusal first;
  int reached = 0;
  for (const int pe : targets(all)) {
    const detail::tcp_endpoints theirs = detail::decode_endpoints(endpoints[static_cast<std::size_t>(pe)], pe);
    const refusal refused =
        theirs.failure.empty() ? try_addresses(theirs.addresses, limit) : refusal{theirs.failure, "the row interfaces"};
    if (refused.why.empty())
      ++reached;
    else if (first.why.empty())
      first = {fmt::format("PE {} on {} does not answer: {}", pe,
                           all.pes[static_cast<std::size_t>(pe)]["host"].get<std::string>(), refused.why),
               refused.fix};
  }
  exchange.barrier();  // the listeners must stay open until all PEs have connected
  if (first.why.empty()) {
    result.found = fmt::format("TCP to {} PE{} of other hosts", reached, reached == 1 ? "" : "s");
    return {result};
  }
  result.is = verdict::fails;
  result.found = first.why;
  result.means = "joining fails: PEs of different hosts connect over TCP, at ports that the system chooses";
  result.fix = first.fix;
  return {result};
}

}  // namespace pgas::doctor
