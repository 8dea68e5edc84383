#include "host/connect/connect_peers.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "common/join_step_hook.hpp"
#include "common/net/admission.hpp"
#include "common/net/event_loop.hpp"
#include "common/net/handshake.hpp"
#include "common/net/tcp_connector.hpp"
#include "common/system_error.hpp"
#include "host/connect/group_tree.hpp"

namespace pgas::detail {

namespace {

using handshake_status = handshake::status;

/// The parent of this PE on the same host, and the handshake with the parent.
struct local_target {
  int pe;
  clock::time_point next_attempt;
  std::optional<handshake> talk;
};

/// The connections of one PE to its neighbours in the tree.
class peer_connector {
 public:
  peer_connector(const std::vector<peer_descriptor>& all, const peer_table& peers, const group_tree& tree,
                 const unix_listener& listener, const config& settings, log::logger& log, const tcp_listener* tcp,
                 std::span<const tcp_endpoints> endpoints)
      : all_(all),
        peers_(peers),
        me_(peers.me),
        tree_(tree),
        endpoints_(endpoints),
        settings_(settings),
        log_(log),
        secret_(derive_job_key(all)),
        expected_(tree.children().begin(), tree.children().end()),
        // The time limit is shorter than the time limit of the bootstrap, so that PEs can still exchange the outcome.
        deadline_(clock::now() + settings.join_timeout * 3 / 4),
        timeout_(settings.join_timeout * 3 / 16),
        door_(
            loop_, secret_, peers.me, {timeout_, expected_.size() + max_unproven, expected_.size() + max_unproven},
            [this](caller who) { admit(std::move(who)); },
            [this](const std::string& name, const std::string& why) { refuse(name, why); }) {
    if (tree.parent() >= 0) {
      if (peers_.on_this_host(tree.parent()))
        local_target_.emplace(local_target{tree.parent(), clock::now(), std::nullopt});
      else
        add_connector(tree.parent());
    }
    missing_ = expected_.size() + (tree.parent() >= 0 ? 1 : 0);
    watch_processes();
    door_.listen_local(listener.fd());
    if (tcp != nullptr) door_.listen(*tcp);
  }

  std::map<int, peer_socket> run() {
    while (missing_ > 0) {
      if (clock::now() >= deadline_) throw_missing();
      start_connection();
      if (connector_) step_connector();
      if (missing_ == 0) break;
      clock::time_point next = deadline_;
      if (local_target_ && !local_target_->talk) next = std::min(next, local_target_->next_attempt);
      if (connector_) next = std::min(next, connector_->due());
      if (const auto due = door_.due()) next = std::min(next, *due);
      loop_.run_once(next);
      door_.expire();
    }
    door_.refuse_all();
    return std::move(sockets_);
  }

 private:
  static constexpr std::size_t max_unproven = 64;  // the PEs themselves need fewer connections
  static constexpr int most_refusals_logged = 64;  // a flood of connections must not flood the log

  /// Watches the processes of the neighbours on this host. The death of a process does not always close a socket: the
  /// process may not have connected yet, or a child may hold its sockets.
  void watch_processes() {
    const auto watch = [this](int pe) {
      const peer_descriptor& one = all_[static_cast<std::size_t>(pe)];
      if (!peers_.on_this_host(pe) || one.pid_namespace != all_[static_cast<std::size_t>(me_)].pid_namespace) return;
      bool gone = false;
      unique_fd process = process_of(one.pid, gone);
      if (gone) throw_died(pe);
      if (!process) return;  // if descriptors are scarce, connections have precedence
      loop_.watch(process.get(), POLLIN, [this, pe](short) { throw_died(pe); });
      processes_.emplace(pe, std::move(process));
    };
    rlimit limit{};
    const std::size_t needed = 2 * expected_.size() + 64;
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < needed) return;
    if (tree_.parent() >= 0) watch(tree_.parent());
    for (const int child : tree_.children()) watch(child);
  }

  void add_connector(int pe) {
    const std::vector<tcp_address>& addresses = endpoints_[static_cast<std::size_t>(pe)].addresses;
    if (addresses.empty())
      throw error(code::peer_unreachable,
                  fmt::format("{} has no network address at which {} could reach it: none of its network interfaces is "
                              "up and has one",
                              peers_.describe(pe), peers_.describe(me_)),
                  pe);
    remote_ = pe;
    connector_.emplace(std::vector<stream_address>(addresses.begin(), addresses.end()), secret_,
                       hello{.from = me_, .to = pe}, timeout_, true);
  }

  /// Continues the connection to a parent on another host.
  void step_connector() {
    for (const pollfd& one : std::exchange(connecting_, {})) loop_.forget(one.fd);
    if (connector_->advance()) {
      proven_socket proven = connector_->take();
      connector_.reset();
      return add_socket(remote_, {std::move(proven.fd), proven.keys});
    }
    connecting_ = connector_->awaited();
    for (const pollfd& one : connecting_) loop_.watch(one.fd, one.events, [](short) {});  // step_connector() handles it
  }

  void start_connection() {
    if (!local_target_ || local_target_->talk || clock::now() < local_target_->next_attempt) return;
    local_target& target = *local_target_;
    connect_result attempt = connect_to(address_of(target.pe));
    if (attempt.error == EAGAIN) {
      target.next_attempt = clock::now() + std::chrono::milliseconds(5);
      return;
    }
    if (attempt.error == ECONNREFUSED) throw_if_died(target.pe);
    if (attempt.error != 0)
      throw error(code::peer_unreachable,
                  fmt::format("{} cannot reach the socket of {}, {}: {}; {}", peers_.describe(me_),
                              peers_.describe(target.pe), address_of(target.pe).text(), errno_text(attempt.error),
                              attempt.error == EMFILE || attempt.error == ENFILE ? "raise the limit (ulimit -n)"
                              : settings_.socket_directory.empty()
                                  ? "has that process ended?"
                                  : "PGAS_SOCKET_DIR must be one directory that both see, not two of the same name"),
                  target.pe);
    const std::optional<socket_owner> owner = peer_credentials(attempt.fd.get());
    if (!owner || owner->uid != ::geteuid())
      throw error(code::authentication,
                  fmt::format("the socket at {}, where PE {} should listen, belongs to user {}: nothing was sent to it",
                              address_of(target.pe).text(), target.pe, owner ? static_cast<long>(owner->uid) : -1L),
                  target.pe);
    target.talk.emplace(std::move(attempt.fd), secret_, hello{.from = me_, .to = target.pe});
    if (const int failed = target.talk->send_hello(); failed != 0) throw_closed(target.pe, errno_text(failed));
    loop_.watch(target.talk->fd(), POLLIN, [this](short) { advance_target(); });
  }

  /// Handles the messages of a parent on this host.
  void advance_target() {
    local_target& target = *local_target_;
    switch (target.talk->receive()) {
      case handshake_status::pending:
      case handshake_status::proven: return;
      case handshake_status::ended: throw_closed(target.pe, "it closed the connection without an answer");
      case handshake_status::foreign:
      case handshake_status::wrong_version:
      case handshake_status::refused:
        throw error(code::authentication,
                    fmt::format("the process that listens at {} does not know this job's secret and is not PE {}",
                                address_of(target.pe).text(), target.pe),
                    target.pe);
      case handshake_status::welcomed: break;
    }
    loop_.forget(target.talk->fd());
    add_socket(target.pe, {target.talk->take(), std::nullopt});
    local_target_.reset();
  }

  /// Keeps a connection whose other side is authenticated.
  void admit(caller who) {
    const int pe = who.talk.introduction().from;
    const bool local = !who.address;
    if (!expected_.contains(pe) || peers_.on_this_host(pe) != local)
      return refuse(who.name, fmt::format("it claims to be PE {}, which is no child of this PE", pe));
    if (sockets_.contains(pe))
      return refuse(who.name, fmt::format("it claims to be PE {}, which is connected already", pe));
    if (const int failed = who.talk.welcome(); failed != 0) throw_closed(pe, errno_text(failed));
    proven_socket proven = who.talk.take_proven();
    add_socket(pe, {std::move(proven.fd), local ? std::nullopt : std::optional(proven.keys)});
  }

  void add_socket(int pe, peer_socket socket) {
    join_step("connection");
    // A connected PE sends no message before all PEs are connected. The only possible event is the end of the
    // connection.
    loop_.watch(socket.fd.get(), POLLRDHUP, [this, pe](short) { throw_closed(pe, "it closed the connection"); });
    sockets_.emplace(pe, std::move(socket));
    --missing_;
  }

  void refuse(const std::string& name, const std::string& why) {
    if (++refused_ <= most_refusals_logged)
      log_.warn("refused a connection from {} to this world's socket: {}", name, why);
    if (refused_ == most_refusals_logged)
      log_.warn("further connections that are refused while joining are not logged");
  }

  [[nodiscard]] unix_address address_of(int pe) const {
    return {settings_.socket_directory, all_[static_cast<std::size_t>(pe)].socket_name()};
  }

  [[nodiscard]] error lost(int pe, const std::string& how) const {
    return error(code::peer_lost, fmt::format("{} was lost while joining: {}", peers_.describe(pe), how), pe);
  }

  [[noreturn]] void throw_died(int pe) const {
    throw pe_has_died(code::peer_lost,
                      fmt::format("{} was lost while joining: its process has ended", peers_.describe(pe)), pe);
  }

  /// Called when a PE has closed its sockets. A process that ends closes its sockets shortly before its pidfd reports
  /// the end.
  void throw_if_died(int pe) const {
    const auto process = processes_.find(pe);
    if (process == processes_.end()) return;
    pollfd ended{process->second.get(), POLLIN, 0};
    if (::poll(&ended, 1, 100) > 0) throw_died(pe);
  }

  [[noreturn]] void throw_closed(int pe, const std::string& how) const {
    throw_if_died(pe);
    throw lost(pe, how);
  }

  [[noreturn]] void throw_missing() const {
    if (connector_)
      throw error(
          code::peer_unreachable,
          fmt::format("{} cannot reach {} over TCP; tried {}. Is a firewall between the two hosts, or is that "
                      "process stopped? PGAS_SOCKET_IFNAME names the network interface whose addresses are tried",
                      peers_.describe(me_), peers_.describe(remote_), connector_->report()),
          remote_);
    std::vector<int> missing(expected_.begin(), expected_.end());
    if (tree_.parent() >= 0) missing.push_back(tree_.parent());
    std::erase_if(missing, [this](int pe) { return sockets_.contains(pe); });
    throw error(
        code::bootstrap_timeout,
        fmt::format(
            "{} is not connected to {}: are those processes stopped, or did they fail? PGAS_JOIN_TIMEOUT sets how "
            "long to wait",
            peers_.describe(me_), peers_.describe(missing)),
        missing.front());
  }

  const std::vector<peer_descriptor>& all_;
  const peer_table& peers_;
  const int me_;
  const group_tree& tree_;
  const std::span<const tcp_endpoints> endpoints_;
  const config& settings_;
  log::logger& log_;
  const job_secret secret_;
  const std::set<int> expected_;  ///< the children
  std::map<int, peer_socket> sockets_;
  std::optional<local_target> local_target_;
  std::optional<tcp_connector> connector_;
  int remote_ = -1;                     ///< the parent on another host
  std::vector<pollfd> connecting_;      ///< the watched descriptors of the connector
  std::map<int, unique_fd> processes_;  ///< the processes of neighbours on this host, indexed by PE
  std::size_t missing_ = 0;
  int refused_ = 0;
  const clock::time_point deadline_;
  const milliseconds timeout_;  ///< the time limit of each handshake
  event_loop loop_;
  admission door_;
};

}  // namespace

std::map<int, peer_socket> connect_peers(const std::vector<peer_descriptor>& all, const peer_table& peers,
                                         const unix_listener& listener, const config& settings, log::logger& log,
                                         const tcp_listener* tcp, std::span<const tcp_endpoints> endpoints) {
  const group_tree tree(std::make_shared<group_layout>(peers.hosts), peers.me);
  return peer_connector(all, peers, tree, listener, settings, log, tcp, endpoints).run();
}

}  // namespace pgas::detail
