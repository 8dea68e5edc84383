#include <fmt/format.h>
#include <netdb.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "bootstrap/error_messages.hpp"
#include "bootstrap/hub/hub_client.hpp"
#include "bootstrap/join_methods.hpp"
#include "bootstrap/tcp/rank0_server.hpp"
#include "bootstrap/tcp/reach_rank0.hpp"
#include "bootstrap/tcp/unique_id.hpp"
#include "common/join_warning.hpp"
#include "common/resource_limits.hpp"
#include "common/system_error.hpp"
#include "common/thread.hpp"
#include "pgas/error.hpp"

namespace pgas::boot {
namespace {

constexpr int ports_to_try = 16;

/// The state of an address at which this process makes worlds. It is kept between worlds.
struct endpoint {
  rank0_listeners listeners;                   // set by make_unique_id(), until rank 0 joins
  std::weak_ptr<rank0_server> running;         // serves rank 0's worlds
  std::map<int, std::uint32_t> next_instance;  // by rank, because several ranks may be threads of this process
};

std::mutex endpoints_mutex;

[[nodiscard]] std::map<std::string, endpoint>& endpoints() {
  static std::map<std::string, endpoint> all;
  return all;
}

/// The address of a job, from the options.
struct job_address {
  std::string name;  // the key in endpoints()
  bits128 key;
  std::vector<std::uint16_t> ports;
  candidates where;
  std::string_view hint;  // the remedy if all ports are in use
  // Opens all listeners of rank 0 at a port, or no listener if the port is in use.
  std::function<rank0_listeners(std::uint16_t port)> listen;
};

/// The result of getaddrinfo() for a host name or a literal address.
struct looked_up {
  int status = 0;
  std::vector<tcp_address> found;
};
[[nodiscard]] looked_up look_up(const std::string& host, int flags) {
  looked_up result;
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags;
  addrinfo* list = nullptr;
  result.status = ::getaddrinfo(host.c_str(), nullptr, &wanted, &list);
  if (result.status != 0) return result;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next)
    if (const auto found = tcp_address::from(one->ai_addr)) result.found.push_back(*found);
  ::freeaddrinfo(list);
  return result;
}

/// The addresses of a host name or a literal address; if there is no address, `reason` says why. A literal address
/// needs no lookup, and therefore no thread.
[[nodiscard]] std::vector<tcp_address> resolve(const std::string& host, milliseconds limit, std::string& reason) {
  if (auto literal = look_up(host, AI_NUMERICHOST); literal.status == 0) return literal.found;
  const auto got = call_with_timeout(limit, [host] { return look_up(host, 0); });
  if (!got) {
    reason = fmt::format("looking up '{}' took too long", host);
    return {};
  }
  if (got->status != 0) reason = fmt::format("looking up '{}': {}", host, ::gai_strerror(got->status));
  return got->found;
}

[[nodiscard]] job_address by_unique_id(const bootstrap_options& options) {
  const unique_id id = unique_id::parse(options.unique_id);
  return {options.unique_id,
          id.secret,
          {id.addresses.front().port()},
          [id](std::string&, const deadline&) {
            return std::vector<stream_address>(id.addresses.begin(), id.addresses.end());
          },
          "The process that made the unique id must join as rank 0",
          [options](std::uint16_t port) {
            rank0_listeners opened;
            opened.tcp = listen_on(options.interface, port);
            return opened;
          }};
}

/// The abstract name at which rank 0 accepts processes of its own user and host. All of these processes can compute the
/// name. Both sides check the user at the other end, because another user can use the same name.
[[nodiscard]] unix_address local_socket(std::uint16_t port) {
  return {"", fmt::format("pgas-rank0-{}-{}", ::geteuid(), port)};
}

[[nodiscard]] bool is_loopback(const tcp_address& address) {
  const std::string host = address.host();
  return host.starts_with("127.") || host == "::1";
}

constexpr std::string_view set_a_secret =
    "set PGAS_SECRET to the same random text for all processes (`openssl rand -hex 16` makes one)";

/// The addresses of MASTER_ADDR that belong to this host. Without a secret, rank 0 listens only at these addresses.
/// *Errors* bootstrap_unavailable if none of the addresses belongs to this host.
[[nodiscard]] std::vector<tcp_address> own_of(const bootstrap_options& options, const deadline& limit) {
  std::string problem;
  const auto all = resolve(options.master_address, limit.but_at_most(milliseconds{10'000}).left(), problem);
  std::vector<tcp_address> own;
  for (const tcp_address& one : all)
    if (is_of_this_host(one)) own.push_back(one);
  if (!own.empty()) return own;
  throw error{
      code::bootstrap_unavailable,
      fmt::format("rank 0 cannot listen at MASTER_ADDR={}: {}. Without a secret it listens nowhere else. Correct "
                  "MASTER_ADDR, or {}",
                  options.master_address, all.empty() ? problem : all.front().host() + " is not an address of its host",
                  set_a_secret)};
}

/// Rank 0's listeners for a job at MASTER_ADDR. With a secret the listeners listen on all interfaces, or on the
/// requested interface. Without a secret the listeners listen only at the addresses of MASTER_ADDR, and only for other
/// hosts.
[[nodiscard]] rank0_listeners listen_at_address(const bootstrap_options& options, std::uint16_t port,
                                                const deadline& limit) {
  rank0_listeners opened;
  opened.secret = !options.secret.empty();
  if (opened.secret) {
    opened.tcp = listen_on(options.interface, port);
    if (opened.tcp.empty()) return {};
  } else {
    for (const tcp_address& one : own_of(options, limit)) {
      if (is_loopback(one)) continue;
      auto listener = tcp_listener::open(one.with_port(port));
      if (!listener && errno == EADDRINUSE) return {};
      if (!listener) throw_system(fmt::format("listening at {}", one.with_port(port).text()));
      opened.tcp.push_back(std::move(*listener));
    }
    if (opened.tcp.empty())
      opened.limits = fmt::format("MASTER_ADDR={} is the loopback of rank 0's host, so that no other host reaches it",
                                  options.master_address);
  }
  opened.local = listen_for_streams(local_socket(port), 4096);
  if (!opened.local && errno != EADDRINUSE) throw_system("opening a UNIX socket for processes of this host");
  return opened.local ? std::move(opened) : rank0_listeners{};
}

[[nodiscard]] job_address by_address(const bootstrap_options& options) {
  const int first = options.master_port + (options.master_port_taken ? 1 : 0);
  const int last = options.master_port_taken ? options.master_port + ports_to_try : first;
  if (options.master_port < 1 || first > 65535)
    throw error{code::bootstrap_unavailable,
                fmt::format("port {} of rank 0 is not usable; set MASTER_PORT to a number between 1 and 65534",
                            options.master_port)};
  std::vector<std::uint16_t> ports;
  for (int port = first; port <= std::min(last, 65535); ++port) ports.push_back(static_cast<std::uint16_t>(port));
  const auto where = [ports, options](std::string& problem, const deadline& limit) {
    std::vector<stream_address> all;
    const auto found = resolve(options.master_address, limit.but_at_most(milliseconds{10'000}).left(), problem);
    const bool here = std::ranges::any_of(found, is_of_this_host);
    for (const std::uint16_t port : ports) {
      if (here) all.emplace_back(local_socket(port));
      // Without a secret, rank 0 refuses TCP connections from its own host.
      for (const tcp_address& one : found)
        if (!options.secret.empty() || !is_of_this_host(one)) all.emplace_back(one.with_port(port));
    }
    return all;
  };
  return {fmt::format("{}:{}|{}|{}", options.master_address, options.master_port, options.run_id, options.secret),
          key_of_job(options),
          ports,
          where,
          "Choose another MASTER_PORT",
          [options](std::uint16_t port) { return listen_at_address(options, port, deadline{options.timeout}); }};
}

/// Listeners on the first free port. If no port is free, waits for a short time, because this process may be closing
/// its own listener.
[[nodiscard]] rank0_listeners listen_on_any(const job_address& where_to, const deadline& limit) {
  const deadline retry_limit = limit.but_at_most(milliseconds{2000});
  do {
    for (const std::uint16_t port : where_to.ports)
      if (rank0_listeners listeners = where_to.listen(port); listeners.open()) return listeners;
    std::this_thread::sleep_for(milliseconds{20});
  } while (!retry_limit.expired());
  throw error{
      code::bootstrap_unavailable,
      fmt::format("rank 0 cannot listen on port {}{}: already in use. {}", where_to.ports.front(),
                  where_to.ports.size() > 1 ? fmt::format(" to {}", where_to.ports.back()) : "", where_to.hint)};
}

[[nodiscard]] std::shared_ptr<rank0_server> server_at(const job_address& where_to, const deadline& limit) {
  const std::lock_guard lock{endpoints_mutex};
  endpoint& point = endpoints()[where_to.name];
  if (auto running = point.running.lock()) return running;
  if (!point.listeners.open()) point.listeners = listen_on_any(where_to, limit);
  auto fresh = std::make_shared<rank0_server>(where_to.key, std::exchange(point.listeners, {}));
  point.running = fresh;
  return fresh;
}

/// The number of the next world. A failed attempt is not counted on any rank.
class numbered_attempt {
 public:
  numbered_attempt(std::string name, int rank) : name_(std::move(name)), rank_(rank) {
    const std::lock_guard lock{endpoints_mutex};
    instance_ = endpoints()[name_].next_instance[rank_]++;
  }
  ~numbered_attempt() {
    if (succeeded_) return;
    const std::lock_guard lock{endpoints_mutex};
    std::uint32_t& next = endpoints()[name_].next_instance[rank_];
    if (next == instance_ + 1) next = instance_;
  }
  numbered_attempt(const numbered_attempt&) = delete;
  numbered_attempt& operator=(const numbered_attempt&) = delete;

  [[nodiscard]] std::uint32_t instance() const { return instance_; }
  void succeeded() { succeeded_ = true; }

 private:
  std::string name_;
  int rank_;
  std::uint32_t instance_ = 0;
  bool succeeded_ = false;
};

/// Rank 0's bootstrap. It is a member, and it owns the server to which all members are connected.
class tcp_root final : public hub_client, public join_warning {
 public:
  tcp_root(std::shared_ptr<rank0_server> host, std::uint32_t instance, const bootstrap_options& options,
           std::pair<unique_fd, unique_fd> ends = socket_pair())
      : hub_client(std::move(ends.first), 0, options.size, options.timeout, {"its own server thread", 0}),
        server_(std::move(host)),
        instance_(instance),
        world_(server_->open(instance, options.size, std::move(ends.second))),
        timeout_(options.timeout) {}
  ~tcp_root() override {
    leave();
    server_->close(world_, broken_, std::min(timeout_, milliseconds{5000}));
  }
  void join(const deadline& limit) {
    try {
      if (hub_client::join(limit)) return;
      throw error{code::system,
                  "the server thread of rank 0 has failed. All worlds joined at this address share it: leave them, "
                  "then join again",
                  0};
    } catch (const error& e) {
      // Members that are still connecting should receive the reason. After a timeout no member is still connecting.
      broken_ = e.code() != code::bootstrap_timeout;
      throw;
    }
  }

  [[nodiscard]] std::string warning() const override {
    auto [ranks, last_address] = server_->unproven(instance_);
    if (ranks.empty()) return {};
    std::ranges::sort(ranks);
    return fmt::format(
        "{} joined from other hosts (the last from {}) without a secret: any process that reaches this host over the "
        "network could have joined and could read and write the memory of this job. To keep others out, {}",
        name_ranks(ranks, size()), last_address, set_a_secret);
  }

 private:
  std::shared_ptr<rank0_server> server_;
  std::uint32_t instance_;
  rank0_server::opened_world world_;
  milliseconds timeout_;
  bool broken_ = false;  // whether the world failed before all members had arrived
};

[[nodiscard]] std::unique_ptr<bootstrap> join_as_root(const job_address& where_to, const bootstrap_options& options,
                                                      std::uint32_t instance, const deadline& limit) {
  allow_descriptors_for(options.size);  // all other members connect to this process
  auto root = std::make_unique<tcp_root>(server_at(where_to, limit), instance, options);
  root->join(limit);
  return root;
}

[[nodiscard]] std::unique_ptr<bootstrap> join_as_member(const job_address& where_to, const bootstrap_options& options,
                                                        std::uint32_t instance, const deadline& limit) {
  const hello me{.from = options.rank, .size = static_cast<std::uint32_t>(options.size), .world = instance};
  for (;;) {
    proven_socket reached = reach_rank0(where_to.where, where_to.key, me, limit);
    auto member = std::make_unique<hub_client>(std::move(reached.fd), options.rank, options.size, options.timeout,
                                               hub_client::hub_owner{"rank 0", 0}, reached.keys);
    if (member->join(limit)) return member;
    // Rank 0 has not left its previous world yet. A later attempt reaches the next world.
    std::this_thread::sleep_for(milliseconds{10});
  }
}

}  // namespace

bits128 key_of_job(const bootstrap_options& options) {
  const std::string job = fmt::format("pgas job|{}|{}", options.run_id, options.master_port);
  const bits128 salt = keyed_hash({}, std::as_bytes(std::span{job}));
  return options.secret.empty() ? salt : key_of_secret(options.secret, salt);
}

std::unique_ptr<bootstrap> join_tcp(const bootstrap_options& options) {
  const deadline limit{options.timeout};
  const job_address where_to = options.unique_id.empty() ? by_address(options) : by_unique_id(options);
  numbered_attempt attempt{where_to.name, options.rank};
  auto joined = options.rank == 0 ? join_as_root(where_to, options, attempt.instance(), limit)
                                  : join_as_member(where_to, options, attempt.instance(), limit);
  attempt.succeeded();
  return joined;
}

void keep_for_rank0(const std::string& unique_id, std::vector<tcp_listener> listeners) {
  const std::lock_guard lock{endpoints_mutex};
  endpoints()[unique_id].listeners.tcp = std::move(listeners);
}

void close_unused(const std::string& unique_id) {
  const std::lock_guard lock{endpoints_mutex};
  const auto found = endpoints().find(unique_id);
  if (found != endpoints().end() && found->second.next_instance.empty()) endpoints().erase(found);
}

}  // namespace pgas::boot
