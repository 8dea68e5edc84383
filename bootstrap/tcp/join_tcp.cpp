#include <fmt/format.h>
#include <netdb.h>

#include <map>
#include <mutex>
#include <thread>

#include "bootstrap/error_messages.hpp"
#include "bootstrap/hub/hub_client.hpp"
#include "bootstrap/join_methods.hpp"
#include "bootstrap/tcp/rank0_server.hpp"
#include "bootstrap/tcp/reach_rank0.hpp"
#include "bootstrap/tcp/unique_id.hpp"
#include "common/resource_limits.hpp"
#include "common/thread.hpp"
#include "pgas/error.hpp"

namespace pgas::boot {
namespace {

constexpr int ports_to_try = 16;

/// The state of one address at which this process makes worlds, kept from one world to the next.
struct endpoint {
  std::vector<tcp_listener> listeners;         // opened by make_unique_id(), until rank 0 joins
  std::weak_ptr<rank0_server> running;         // serves rank 0's worlds
  std::map<int, std::uint32_t> next_instance;  // by rank, as several may be threads of this process
};

std::mutex endpoints_mutex;

[[nodiscard]] std::map<std::string, endpoint>& endpoints() {
  static std::map<std::string, endpoint> all;
  return all;
}

/// The address of a job, from the options.
struct job_address {
  std::string name;  // key in endpoints()
  bits128 key;
  std::vector<std::uint16_t> ports;
  candidates where;
  std::string_view hint;  // what to do where all ports are in use
};

/// What getaddrinfo() says to a host name or a literal address.
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

/// The addresses of a host name or a literal address, or none and the reason. A literal one is not looked up: no other
/// process, and no thread, is needed for it.
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
          [id](std::string&, const deadline&) { return id.addresses; },
          "The process that made the unique id has to be the one that joins as rank 0"};
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
  const auto where = [ports, host = options.master_address](std::string& problem, const deadline& limit) {
    std::vector<tcp_address> all;
    for (const tcp_address& one : resolve(host, limit.but_at_most(milliseconds{10'000}).left(), problem))
      for (const std::uint16_t port : ports) all.push_back(one.with_port(port));
    return all;
  };
  return {fmt::format("{}:{}|{}|{}", options.master_address, options.master_port, options.run_id, options.secret),
          key_of_job(options), ports, where, "Choose another MASTER_PORT"};
}

/// Listeners on the first port that is free. Waits a moment, since this process may be closing its own listener.
[[nodiscard]] std::vector<tcp_listener> listen_on_any(const job_address& where_to, const std::string& interface,
                                                      const deadline& limit) {
  const deadline retry_limit = limit.but_at_most(milliseconds{2000});
  do {
    for (const std::uint16_t port : where_to.ports)
      if (auto listeners = listen_on(interface, port); !listeners.empty()) return listeners;
    std::this_thread::sleep_for(milliseconds{20});
  } while (!retry_limit.expired());
  throw error{
      code::bootstrap_unavailable,
      fmt::format("rank 0 cannot listen on port {}{}: already in use. {}", where_to.ports.front(),
                  where_to.ports.size() > 1 ? fmt::format(" to {}", where_to.ports.back()) : "", where_to.hint)};
}

[[nodiscard]] std::shared_ptr<rank0_server> server_at(const job_address& where_to, const bootstrap_options& options,
                                                      const deadline& limit) {
  const std::lock_guard lock{endpoints_mutex};
  endpoint& point = endpoints()[where_to.name];
  if (auto running = point.running.lock()) return running;
  if (point.listeners.empty()) point.listeners = listen_on_any(where_to, options.interface, limit);
  auto fresh = std::make_shared<rank0_server>(where_to.key, std::exchange(point.listeners, {}));
  point.running = fresh;
  return fresh;
}

/// The number of the world that is about to be made. A failed attempt is not counted, on any rank.
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

/// Rank 0's bootstrap: a member, and an owner of the server to which all members are connected.
class tcp_root final : public bootstrap {
 public:
  tcp_root(std::shared_ptr<rank0_server> host, std::uint32_t instance, const bootstrap_options& options)
      : server_(std::move(host)), instance_(instance), timeout_(options.timeout) {
    auto [mine, hubs] = socket_pair();
    server_->open(instance_, options.size, std::move(hubs));
    client_ = std::make_unique<hub_client>(std::move(mine), 0, options.size, options.timeout,
                                           hub_client::hub_owner{"its own server thread", 0});
  }
  ~tcp_root() override {
    client_.reset();
    server_->close(instance_, broken_, std::min(timeout_, milliseconds{5000}));
  }
  void join(const deadline& limit) {
    try {
      if (client_->join(limit)) return;
      throw error{
          code::system,
          "the thread of rank 0 that serves all others has failed. It is shared by all worlds that were made at "
          "this address: leave those, then join again",
          0};
    } catch (const error& e) {
      // Members that are still connecting should receive the reason. After a timeout there are none.
      broken_ = e.code() != code::bootstrap_timeout;
      throw;
    }
  }

  [[nodiscard]] int rank() const noexcept override { return 0; }
  [[nodiscard]] int size() const noexcept override { return client_->size(); }
  [[nodiscard]] std::vector<blob> all_gather(std::span<const std::byte> mine) override {
    return client_->all_gather(mine);
  }
  void barrier() override { client_->barrier(); }
  void set_time_limit(milliseconds limit) override { client_->set_time_limit(limit); }
  void abort(std::string_view reason) noexcept override { client_->abort(reason); }

 private:
  std::shared_ptr<rank0_server> server_;
  std::uint32_t instance_;
  milliseconds timeout_;
  bool broken_ = false;  // before all had come
  std::unique_ptr<hub_client> client_;
};

[[nodiscard]] std::unique_ptr<bootstrap> join_as_root(const job_address& where_to, const bootstrap_options& options,
                                                      std::uint32_t instance, const deadline& limit) {
  allow_descriptors_for(options.size);  // all others connect to this one
  auto root = std::make_unique<tcp_root>(server_at(where_to, options, limit), instance, options);
  root->join(limit);
  return root;
}

[[nodiscard]] std::unique_ptr<bootstrap> join_as_member(const job_address& where_to, const bootstrap_options& options,
                                                        std::uint32_t instance, const deadline& limit) {
  const hello me{.from = options.rank, .size = static_cast<std::uint32_t>(options.size), .world = instance};
  for (;;) {
    auto member = std::make_unique<hub_client>(reach_rank0(where_to.where, where_to.key, me, limit), options.rank,
                                               options.size, options.timeout, hub_client::hub_owner{"rank 0", 0});
    if (member->join(limit)) return member;
    // Rank 0 was leaving its previous world; the next attempt reaches this one.
    std::this_thread::sleep_for(milliseconds{10});
  }
}

}  // namespace

bits128 key_of_job(const bootstrap_options& options) {
  const bits128 fixed{};
  const std::string text = fmt::format("pgas job key|{}|{}|{}|{}", options.secret.size(), options.secret,
                                       options.run_id, options.master_port);
  return siphash128(fixed, std::as_bytes(std::span{text}));
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
  endpoints()[unique_id].listeners = std::move(listeners);
}

void close_unused(const std::string& unique_id) {
  const std::lock_guard lock{endpoints_mutex};
  const auto found = endpoints().find(unique_id);
  if (found != endpoints().end() && found->second.next_instance.empty()) endpoints().erase(found);
}

}  // namespace pgas::boot
