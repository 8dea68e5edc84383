#include "host/connect/join_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "common/encode_error.hpp"
#include "common/join_step_hook.hpp"
#include "common/keyed_hash.hpp"
#include "common/resource_limits.hpp"
#include "host/connect/group_tree.hpp"
#include "host/connect/peer_descriptor.hpp"

namespace pgas::detail {

namespace {

constexpr auto time_to_agree = std::chrono::milliseconds(500);

/// Collective: exchanges the failures of all PEs. Every PE throws the same error, the most informative one. If this PE
/// has failed and therefore the exchange fails, this PE throws the error of its failure.
void agree_on_outcome(bootstrap& exchange, const std::optional<error>& mine) {
  std::vector<blob> all;
  try {
    all = exchange.all_gather(mine ? encode_error(*mine) : blob());
  } catch (const error& nobody) {
    // If the exchange timed out because a third PE is absent, that absence is the cause. In this case the error of this
    // PE only reports that a peer has stopped waiting.
    const bool about_another = mine && nobody.pe() >= 0 && nobody.pe() != mine->pe();
    if (mine && nobody.code() == code::bootstrap_timeout && !about_another) throw error(*mine);
    throw;
  }
  std::optional<error> chosen;
  const auto weight = [](const error& e) {
    // If one PE fails, the other PEs report peer_lost or bootstrap_timeout as a consequence.
    return e.code() == code::peer_lost ? 0 : e.code() == code::bootstrap_timeout ? 1 : 2;
  };
  for (const blob& bytes : all) {
    if (bytes.empty()) continue;
    const error theirs = decode_error(bytes);
    if (!chosen || weight(theirs) > weight(*chosen)) chosen = theirs;
  }
  if (chosen) throw error(*chosen);
}

std::vector<blob> gather_all(bootstrap& exchange, const blob& mine) {
  std::vector<blob> answers = exchange.all_gather(mine);
  const auto size = static_cast<std::size_t>(exchange.size());
  if (answers.size() != size)
    throw error(code::bootstrap_protocol,
                fmt::format("the bootstrap's all_gather returned {} contributions for {} PEs", answers.size(), size));
  return answers;
}

/// The number of the job, which is the same on all PEs. It is made from the random socket name of PE 0.
std::uint64_t job_of(const std::vector<peer_descriptor>& all) {
  std::uint64_t job = 0;
  std::memcpy(&job, keyed_hash({}, all[0].socket).data(), sizeof job);
  return job;
}

/// Logs a message if two hosts are containers of one machine. Perhaps the user wants the containers to be one host.
void log_separate_namespaces(const std::vector<peer_descriptor>& all, std::span<const int> hosts, log::logger& log) {
  for (std::size_t pe = 1; pe < all.size(); ++pe)
    if (all[pe].machine == all[0].machine && hosts[pe] != hosts[0])
      return log.info(
          "PE 0 and PE {} are in different network namespaces of one machine, as in two containers, and count as two "
          "hosts: set PGAS_SOCKET_DIR to a directory that both have mounted to make them one",
          pe);
}

/// Collective: exchanges the TCP addresses at which the leaders of hosts listen. The leader of a host first opens a TCP
/// port and stores its socket in `listener`. A failure to open the port becomes part of the PE's endpoints. Returns the
/// endpoints, indexed by PE. If the bootstrap publishes values, the PE fetches only the endpoints of its neighbours in
/// the tree.
std::vector<tcp_endpoints> listen_for_other_hosts(bootstrap& exchange, const config& settings, const peer_table& peers,
                                                  std::optional<tcp_listener>& listener,
                                                  std::vector<peer_descriptor>& all) {
  const group_tree tree(std::make_shared<group_layout>(peers.hosts), peers.me);
  const bool leader = peers.at(peers.me).local_rank == 0;
  tcp_endpoints mine;
  try {
    const host_addresses own = own_addresses(settings.socket_ifname);
    if (leader) {
      listener.emplace(listen_anywhere());
      for (const tcp_address& address : own.reachable.empty() ? own.loopback : own.reachable)
        if (listener->takes(address.family())) mine.addresses.push_back(address.with_port(listener->port()));
    }
  } catch (const error& why) {
    mine.failure = detail::text_of(why);
  }
  std::vector<tcp_endpoints> endpoints(all.size());
  if (exchange.publish(encode(mine))) {
    const auto fetch = [&](int pe) {
      endpoints[static_cast<std::size_t>(pe)] = decode_endpoints(exchange.fetch(pe), pe);
    };
    if (tree.parent() >= 0) fetch(tree.parent());
    for (const int child : tree.children())
      if (!tree.on_host_of_this(child)) fetch(child);
    endpoints[static_cast<std::size_t>(exchange.rank())].failure = mine.failure;
  } else {
    const std::vector<blob> told = gather_all(exchange, encode(mine));
    for (std::size_t pe = 0; pe < all.size(); ++pe) endpoints[pe] = decode_endpoints(told[pe], static_cast<int>(pe));
  }
  for (std::size_t pe = 0; pe < all.size(); ++pe) all[pe].failure = endpoints[pe].failure;
  if (const std::optional<error> why = validate(all)) throw error(*why);
  return endpoints;
}

}  // namespace

joined_tree join_tree(bootstrap& exchange, const config& settings, log::logger& log) {
  const int me = exchange.rank();
  const int size = exchange.size();
  if (size < 1 || me < 0 || me >= size)
    throw error(code::bootstrap_protocol, fmt::format("the bootstrap says that this is PE {} of {}", me, size));
  join_step("listen");
  peer_descriptor mine = make_descriptor(settings.socket_directory, settings.test_host);
  mine.heartbeat_ms = settings.heartbeat_timeout.count();
  std::optional<unix_listener> listener;
  if (size > 1) {
    allow_descriptors_for(size);
    // The socket is opened before the exchange of descriptors, because other PEs connect as soon as they know the name
    // of the socket. A failure is part of the descriptor, so that no PE waits for this PE.
    try {
      listener.emplace(unix_address(settings.socket_directory, mine.socket_name()), size + 64);
    } catch (const error& why) {
      mine.failure = detail::text_of(why);
    }
  }
  join_step("introduce");
  std::vector<peer_descriptor> all = decode_descriptors(gather_all(exchange, encode(mine)));
  if (const std::optional<error> why = validate(all)) throw error(*why);
  joined_tree joined{peer_table(all, me), least_heartbeat(all), job_of(all), {}};
  if (size == 1) return joined;
  const peer_table& peers = joined.peers;

  // All PEs have arrived. The limit applies to all following steps together.
  const clock::time_point joined_by = clock::now() + settings.join_timeout;
  const auto set_time_left = [&](std::chrono::milliseconds most) {
    const auto time_left = std::chrono::ceil<std::chrono::milliseconds>(joined_by - clock::now());
    exchange.set_time_limit(std::clamp(time_left, std::chrono::milliseconds(1), most));
  };
  std::optional<tcp_listener> tcp;
  std::vector<tcp_endpoints> endpoints;
  join_step("connect");
  std::optional<error> failed_here;
  bool one_died = false;
  try {
    if (peers.several_hosts()) {
      if (me == 0) log_separate_namespaces(all, peers.hosts, log);
      set_time_left(settings.join_timeout);
      endpoints = listen_for_other_hosts(exchange, settings, peers, tcp, all);
    }
    joined.sockets = connect_peers(all, peers, *listener, settings, log, tcp ? &*tcp : nullptr, endpoints);
  } catch (const pe_has_died& why) {
    failed_here = why;
    one_died = true;
  } catch (const error& why) {
    failed_here = why;
  }
  listener.reset();
  tcp.reset();
  join_step("agree");
  // If a PE has died, the exchange cannot complete. The other PEs have also detected the death, so a short time limit
  // is enough.
  set_time_left(one_died ? std::min(time_to_agree, settings.join_timeout) : settings.join_timeout);
  agree_on_outcome(exchange, failed_here);
  return joined;
}

}  // namespace pgas::detail
