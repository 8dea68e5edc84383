#include "host/control/connect_peers.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <list>
#include <optional>
#include <set>
#include <utility>

#include "common/join_step_hook.hpp"
#include "common/net/handshake.hpp"
#include "common/net/tcp_connector.hpp"
#include "common/system_error.hpp"

namespace pgas::detail {

namespace {

using status = handshake::status;

/// A lower PE of this host, and the connection to it once there is one.
struct local_target {
  int pe;
  clock::time_point next_attempt;
  std::optional<handshake> talk;
};

/// An accepted connection that has not proved to be a PE.
struct pending_connection {
  bool local;
  handshake talk;
  std::string name;  ///< "process 123" or "10.0.0.1:4711"
  clock::time_point until;
};

/// The connections of one PE.
class peer_connector {
 public:
  peer_connector(const std::vector<peer_descriptor>& all, int me, const unix_listener& listener, const config& settings,
                 log::logger& log, const tcp_listener* tcp, std::span<const tcp_endpoints> endpoints)
      : all_(all),
        hosts_(hosts_of(all)),
        me_(me),
        listener_(listener),
        tcp_listener_(tcp),
        endpoints_(endpoints),
        settings_(settings),
        log_(log),
        secret_(derive_job_key(all)),
        sockets_(all.size()) {
    // Less than the bootstrap's limit, so that the outcome can still be exchanged.
    const auto limit = std::min<std::chrono::milliseconds>(settings.join_timeout * 3 / 4, std::chrono::seconds(20));
    deadline_ = clock::now() + limit;
    timeout_ = limit / 4;
    for (int pe = 0; pe < me; ++pe) {
      if (on_this_host(pe))
        local_targets_.push_back({pe, clock::now(), std::nullopt});
      else
        add_connector(pe);
    }
    missing_ = all.size() - 1;
    watch_processes();
  }

  std::vector<peer_socket> run() {
    while (missing_ > 0) {
      if (clock::now() >= deadline_) throw_missing();
      start_connections();
      for (tcp_connector& one : connectors_) one.start_if_due();
      wait_for_news();
      drop_overdue();
    }
    for (const pending_connection& left_over : pending_) refuse(left_over.name, "it has not said who it is");
    return std::move(sockets_);
  }

 private:
  static constexpr std::size_t max_unproven = 64;   // more than the PEs themselves need
  static constexpr int most_accepted_at_once = 64;  // then those that were accepted before are served
  static constexpr int most_refusals_logged = 64;   // a flood of connections is not to become one of lines

  /// The death of a PE need not close a socket: it may not have connected yet, and a child may hold its sockets.
  void watch_processes() {
    rlimit limit{};
    const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
    for (int pe = 0; pe < static_cast<int>(all_.size()); ++pe) {
      const peer_descriptor& one = all_[static_cast<std::size_t>(pe)];
      if (pe == me_ || !on_this_host(pe) || one.pid_namespace != all_[static_cast<std::size_t>(me_)].pid_namespace)
        continue;
      bool gone = false;
      unique_fd process = process_of(std::stoi(one.pid), gone);
      if (gone) throw_died(pe);
      // Where descriptors are scarce, the connections take precedence.
      const bool scarce = known && static_cast<rlim_t>(process.get()) + 2 * all_.size() >= limit.rlim_cur;
      if (process && !scarce) processes_.emplace_back(pe, std::move(process));
    }
  }

  [[nodiscard]] bool on_this_host(int pe) const {
    return hosts_[static_cast<std::size_t>(pe)] == hosts_[static_cast<std::size_t>(me_)];
  }

  void add_connector(int pe) {
    const std::vector<tcp_address>& addresses = endpoints_[static_cast<std::size_t>(pe)].addresses;
    if (addresses.empty())
      throw error(code::peer_unreachable,
                  fmt::format("{} has no network address at which {} could reach it: none of its network interfaces is "
                              "up and has one",
                              describe_pe(all_, pe), describe_pe(all_, me_)),
                  pe);
    connectors_.emplace_back(me_, pe, addresses, secret_, timeout_);
  }

  void start_connections() {
    for (local_target& target : local_targets_) {
      if (target.talk || clock::now() < target.next_attempt) continue;
      connect_result attempt = connect_to(address_of(target.pe));
      if (attempt.error == EAGAIN) {
        target.next_attempt = clock::now() + std::chrono::milliseconds(5);
        continue;
      }
      if (attempt.error == ECONNREFUSED) throw_if_died(target.pe);
      if (attempt.error != 0)
        throw error(code::peer_unreachable,
                    fmt::format("{} cannot reach the socket of {}, {}: {}; {}", describe_pe(all_, me_),
                                describe_pe(all_, target.pe), address_of(target.pe).text(), errno_text(attempt.error),
                                attempt.error == EMFILE || attempt.error == ENFILE ? "raise the limit (ulimit -n)"
                                : settings_.socket_directory.empty()
                                    ? "has that process ended?"
                                    : "PGAS_SOCKET_DIR must be one directory that both see, not two of the same name"),
                    target.pe);
      const std::optional<socket_owner> owner = peer_credentials(attempt.fd.get());
      if (!owner || owner->uid != ::geteuid())
        throw error(
            code::authentication,
            fmt::format("the socket at {}, where PE {} should listen, belongs to user {}: nothing was sent to it",
                        address_of(target.pe).text(), target.pe, owner ? static_cast<long>(owner->uid) : -1L),
            target.pe);
      target.talk.emplace(std::move(attempt.fd), secret_, hello{.from = me_, .to = target.pe});
      if (const int failed = target.talk->send_hello(); failed != 0) throw_closed(target.pe, errno_text(failed));
    }
  }

  void wait_for_news() {
    std::vector<pollfd> watched{{listener_.fd(), POLLIN, 0}};
    if (tcp_listener_ != nullptr) watched.push_back({tcp_listener_->fd(), POLLIN, 0});
    clock::time_point next = deadline_;
    for (const local_target& target : local_targets_) {
      if (target.talk)
        watched.push_back({target.talk->fd(), POLLIN, 0});
      else
        next = std::min(next, target.next_attempt);
    }
    for (const tcp_connector& one : connectors_) {
      watched.push_back(one.awaited());
      next = std::min(next, one.due());
    }
    for (const pending_connection& one : pending_) {
      watched.push_back({one.talk.fd(), POLLIN, 0});
      next = std::min(next, one.until);
    }
    // A connected PE sends nothing before all are connected; only its end can arrive.
    for (const peer_socket& socket : sockets_)
      if (socket.fd) watched.push_back({socket.fd.get(), POLLRDHUP, 0});
    for (const auto& [pe, process] : processes_) watched.push_back({process.get(), POLLIN, 0});

    const auto pause = std::chrono::ceil<std::chrono::milliseconds>(next - clock::now());
    if (::poll(watched.data(), watched.size(), static_cast<int>(std::max<std::int64_t>(pause.count(), 0))) < 0) {
      if (errno == EINTR) return;
      throw_system("poll");
    }
    std::set<int> with_news;
    for (const pollfd& one : watched)
      if (one.revents != 0) with_news.insert(one.fd);
    const auto news_of = [&](int fd) { return with_news.contains(fd); };
    for (const auto& [pe, process] : processes_)
      if (news_of(process.get())) throw_died(pe);
    for (std::size_t pe = 0; pe < sockets_.size(); ++pe)
      if (sockets_[pe].fd && news_of(sockets_[pe].fd.get()))
        throw_closed(static_cast<int>(pe), "it closed the connection");
    local_targets_.remove_if(
        [&](local_target& target) { return target.talk && news_of(target.talk->fd()) && advance(target); });
    connectors_.remove_if([&](tcp_connector& one) {
      const bool ready = news_of(one.awaited().fd) || clock::now() >= one.due();
      if (!ready || !one.advance()) return false;
      proven_socket proven = one.take();
      add_socket(one.peer(), {std::move(proven.fd), proven.keys});
      return true;
    });
    pending_.remove_if([&](pending_connection& one) { return news_of(one.talk.fd()) && advance(one); });
    if (news_of(listener_.fd())) accept_local();
    if (tcp_listener_ != nullptr && news_of(tcp_listener_->fd())) accept_remote();
  }

  /// Takes what a lower PE of this host has sent. Whether the connection stands.
  bool advance(local_target& target) {
    switch (target.talk->receive()) {
      case status::pending:
      case status::proven: return false;
      case status::ended: throw_closed(target.pe, "it closed the connection without an answer");
      case status::foreign:
      case status::wrong_version:
      case status::refused:
        throw error(code::authentication,
                    fmt::format("the process that listens at {} does not know this job's secret and is not PE {}",
                                address_of(target.pe).text(), target.pe),
                    target.pe);
      case status::welcomed: break;
    }
    add_socket(target.pe, {target.talk->take(), std::nullopt});
    return true;
  }

  /// Takes what the other side of an accepted connection has sent. Whether it is to be forgotten: it was connected or
  /// refused.
  bool advance(pending_connection& one) {
    const status outcome = one.talk.receive();
    if (outcome == status::pending) return false;
    if (outcome == status::ended) {
      refuse(one.name, "it went away without a word");
      return true;
    }
    const int pe = one.talk.introduction().from;
    const bool expected = pe > me_ && pe < static_cast<int>(all_.size()) && on_this_host(pe) == one.local;
    if (outcome != status::proven || !expected) {
      refuse(one.name, "it does not know this job's secret");
      return true;
    }
    if (sockets_[static_cast<std::size_t>(pe)].fd) {
      refuse(one.name, fmt::format("it claims to be PE {}, which is connected already", pe));
      return true;
    }
    if (const int failed = one.talk.welcome(); failed != 0) throw_closed(pe, errno_text(failed));
    proven_socket proven = one.talk.take_proven();
    add_socket(pe, {std::move(proven.fd), one.local ? std::nullopt : std::optional(proven.keys)});
    return true;
  }

  void accept_local() {
    for (int accepted = 0; accepted < most_accepted_at_once; ++accepted) {
      connect_result next = listener_.accept();
      throw_if_failed(next.error);
      if (!next.fd) return;
      const std::optional<socket_owner> owner = peer_credentials(next.fd.get());
      const std::string name = fmt::format("process {}", owner ? owner->pid : 0);
      if (owner && owner->uid == ::geteuid())
        add_pending(std::move(next.fd), true, name);
      else
        refuse(name, fmt::format("it runs as user {}", owner ? static_cast<long>(owner->uid) : -1L));
    }
  }

  void accept_remote() {
    for (int accepted = 0; accepted < most_accepted_at_once; ++accepted) {
      tcp_listener::caller next = tcp_listener_->accept();
      throw_if_failed(next.error);
      if (!next.fd) return;
      add_pending(std::move(next.fd), false, next.address);
    }
  }

  void throw_if_failed(int accepting) const {
    if (accepting != 0) throw_system("accept (where files ran out, raise the limit: ulimit -n)", accepting);
  }

  void add_pending(unique_fd fd, bool local, const std::string& name) {
    if (pending_.size() >= all_.size() + max_unproven) make_room();
    pending_.push_back({local, handshake(std::move(fd), secret_, me_), name, clock::now() + timeout_});
  }

  /// Gives up the oldest connection that has sent no hello, or the oldest of all.
  void make_room() {
    const std::size_t before = pending_.size();
    pending_.remove_if([&](pending_connection& one) { return !one.talk.introduced() && advance(one); });
    if (pending_.size() < before) return;
    auto oldest = std::ranges::find_if(pending_, [](const auto& one) { return !one.talk.introduced(); });
    if (oldest == pending_.end()) oldest = pending_.begin();
    refuse(oldest->name, "too many connections that have not said who they are");
    pending_.erase(oldest);
  }

  void drop_overdue() {
    pending_.remove_if([&](const pending_connection& one) {
      if (clock::now() < one.until) return false;
      refuse(one.name, "it has not said who it is");
      return true;
    });
  }

  void add_socket(int pe, peer_socket socket) {
    join_step("connection");
    sockets_[static_cast<std::size_t>(pe)] = std::move(socket);
    --missing_;
  }

  void refuse(const std::string& name, const std::string& why) {
    if (++refused_ <= most_refusals_logged)
      log_.warn("refused a connection from {} to this world's socket: {}", name, why);
    if (refused_ == most_refusals_logged)
      log_.warn("further connections that are refused while joining are not logged");
  }

  [[nodiscard]] unix_address address_of(int pe) const {
    return {settings_.socket_directory, all_[static_cast<std::size_t>(pe)].socket_name};
  }

  [[nodiscard]] error lost(int pe, const std::string& how) const {
    return error(code::peer_lost, fmt::format("{} was lost while joining: {}", describe_pe(all_, pe), how), pe);
  }

  [[noreturn]] void throw_died(int pe) const {
    throw pe_has_died(code::peer_lost,
                      fmt::format("{} was lost while joining: its process has ended", describe_pe(all_, pe)), pe);
  }

  /// For a PE whose sockets are closed: a process that ends closes them just before pidfds report its end.
  void throw_if_died(int pe) const {
    for (const auto& [whose, process] : processes_) {
      pollfd ended{process.get(), POLLIN, 0};
      if (whose == pe && ::poll(&ended, 1, 100) > 0) throw_died(pe);
    }
  }

  [[noreturn]] void throw_closed(int pe, const std::string& how) const {
    throw_if_died(pe);
    throw lost(pe, how);
  }

  [[noreturn]] void throw_missing() const {
    if (!connectors_.empty()) {
      const tcp_connector& first = connectors_.front();
      throw error(
          code::peer_unreachable,
          fmt::format("{} cannot reach {} over TCP; tried {}. Is a firewall between the two hosts, or is that "
                      "process stopped? PGAS_SOCKET_IFNAME names the network interface whose addresses are tried",
                      describe_pe(all_, me_), describe_pe(all_, first.peer()), first.report()),
          first.peer());
    }
    std::string names;
    int first = -1;
    for (int pe = 0; pe < static_cast<int>(all_.size()); ++pe) {
      if (pe == me_ || sockets_[static_cast<std::size_t>(pe)].fd) continue;
      if (first < 0) first = pe;
      names += (names.empty() ? "" : ", ") + describe_pe(all_, pe);
    }
    throw error(
        code::bootstrap_timeout,
        fmt::format(
            "{} is not connected to {}: are those processes stopped, or did they fail? PGAS_JOIN_TIMEOUT sets how "
            "long to wait",
            describe_pe(all_, me_), names),
        first);
  }

  const std::vector<peer_descriptor>& all_;
  const std::vector<int> hosts_;
  const int me_;
  const unix_listener& listener_;
  const tcp_listener* const tcp_listener_;
  const std::span<const tcp_endpoints> endpoints_;
  const config& settings_;
  log::logger& log_;
  const job_secret secret_;
  std::vector<peer_socket> sockets_;
  std::list<local_target> local_targets_;
  std::list<tcp_connector> connectors_;
  std::list<pending_connection> pending_;
  std::vector<std::pair<int, unique_fd>> processes_;  ///< of this host's PEs, by PE
  std::size_t missing_ = 0;
  int refused_ = 0;
  clock::time_point deadline_;
  milliseconds timeout_{};
};

}  // namespace

std::string describe_pe(const std::vector<peer_descriptor>& all, int pe) {
  const peer_descriptor& one = all[static_cast<std::size_t>(pe)];
  return fmt::format("PE {} (host {}, pid {})", pe, one.host, one.pid);
}

std::vector<peer_socket> connect_peers(const std::vector<peer_descriptor>& all, int me, const unix_listener& listener,
                                       const config& settings, log::logger& log, const tcp_listener* tcp,
                                       std::span<const tcp_endpoints> endpoints) {
  return peer_connector(all, me, listener, settings, log, tcp, endpoints).run();
}

}  // namespace pgas::detail
