#include "host/control/mesh_connector.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <optional>
#include <set>
#include <utility>

#include "common/join_step.hpp"
#include "host/control/handshake.hpp"
#include "host/control/tcp_connector.hpp"

namespace pgas::detail {

namespace {

using clock = std::chrono::steady_clock;
using status = handshake::status;
using transport = handshake::transport;

/// A lower PE of this host, and the connection to it once there is one.
struct neighbour {
  int pe;
  clock::time_point next_attempt;
  std::optional<handshake> talk;
};

/// Somebody who has connected and not said who it is.
struct stranger {
  transport over;
  handshake talk;
  std::string name;  ///< "process 123" or "10.0.0.1:4711"
  clock::time_point until;
};

/// One PE's part in the rendezvous.
class mesh_connector {
 public:
  mesh_connector(const std::vector<peer_descriptor>& all, int me, const unix_listener& listener, const config& settings,
                 log::logger& log, const tcp_meeting* remote)
      : all_(all),
        hosts_(hosts_of(all)),
        me_(me),
        listener_(listener),
        remote_(remote),
        settings_(settings),
        log_(log),
        secret_(derive_job_key(all)),
        sockets_(all.size()) {
    // Less than the bootstrap's own limit, so that the outcome can still be told to the others.
    const auto limit = std::min<std::chrono::milliseconds>(settings.join_timeout * 3 / 4, std::chrono::seconds(20));
    deadline_ = clock::now() + limit;
    patience_ = limit / 4;
    for (int pe = 0; pe < me; ++pe) {
      if (way_to(pe) == transport::unix_socket)
        neighbours_.push_back({pe, clock::now(), std::nullopt});
      else
        approach(pe);
    }
    missing_ = all.size() - 1;
    watch_processes();
  }

  std::vector<unique_fd> run() {
    while (missing_ > 0) {
      if (clock::now() >= deadline_) throw_missing();
      start_connections();
      for (tcp_connector& one : approaches_) one.go_on();
      wait_for_news();
      drop_the_silent();
    }
    for (const stranger& left_over : strangers_) refuse(left_over.name, "it has not said who it is");
    return std::move(sockets_);
  }

 private:
  static constexpr std::size_t max_strangers = 64;  // beyond what the PEs themselves need

  /// A PE that has died need not have connected before, nor need its sockets be closed: a child may have them.
  void watch_processes() {
    rlimit limit{};
    const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
    for (int pe = 0; pe < static_cast<int>(all_.size()); ++pe) {
      const peer_descriptor& one = all_[static_cast<std::size_t>(pe)];
      if (pe == me_ || way_to(pe) != transport::unix_socket ||
          one.pid_namespace != all_[static_cast<std::size_t>(me_)].pid_namespace)
        continue;
      bool gone = false;
      unique_fd process = process_of(std::stoi(one.pid), gone);
      if (gone) throw_died(pe);
      // The connections need theirs more.
      const bool scarce = known && static_cast<rlim_t>(process.get()) + 2 * all_.size() >= limit.rlim_cur;
      if (process && !scarce) processes_.emplace_back(pe, std::move(process));
    }
  }

  [[nodiscard]] transport way_to(int pe) const {
    return hosts_[static_cast<std::size_t>(pe)] == hosts_[static_cast<std::size_t>(me_)] ? transport::unix_socket
                                                                                         : transport::tcp;
  }

  void approach(int pe) {
    const tcp_endpoints& offer = remote_->offers[static_cast<std::size_t>(pe)];
    if (offer.addresses.empty())
      throw error(code::peer_unreachable,
                  fmt::format("{} has no network address at which {} could reach it: none of its network interfaces is "
                              "up and has one",
                              describe_pe(all_, pe), describe_pe(all_, me_)),
                  pe);
    approaches_.emplace_back(me_, pe, offer.addresses, secret_, patience_);
  }

  void start_connections() {
    for (neighbour& target : neighbours_) {
      if (target.talk || clock::now() < target.next_attempt) continue;
      connect_result attempt = connect_to(address_of(target.pe));
      if (attempt.error == EAGAIN) {
        target.next_attempt = clock::now() + std::chrono::milliseconds(5);
        continue;
      }
      if (attempt.error == ECONNREFUSED) throw_if_died(target.pe);
      if (attempt.error != 0)
        throw error(
            code::peer_unreachable,
            fmt::format("{} cannot reach the socket of {}, {}: {}; {}", describe_pe(all_, me_),
                        describe_pe(all_, target.pe), address_of(target.pe).text(), std::strerror(attempt.error),
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
      target.talk.emplace(std::move(attempt.fd), transport::unix_socket, handshake::role::connecting, secret_, me_,
                          target.pe);
      if (const int failed = target.talk->begin(); failed != 0) throw lost(target.pe, std::strerror(failed));
    }
  }

  void wait_for_news() {
    std::vector<pollfd> watched{{listener_.fd(), POLLIN, 0}};
    if (remote_ != nullptr) watched.push_back({remote_->listener.fd(), POLLIN, 0});
    clock::time_point next = deadline_;
    for (const neighbour& target : neighbours_) {
      if (target.talk)
        watched.push_back({target.talk->fd(), POLLIN, 0});
      else
        next = std::min(next, target.next_attempt);
    }
    for (const tcp_connector& one : approaches_) {
      watched.push_back(one.awaited());  // poll ignores the -1 of a pause
      next = std::min(next, one.due());
    }
    for (const stranger& one : strangers_) {
      watched.push_back({one.talk.fd(), POLLIN, 0});
      next = std::min(next, one.until);
    }
    // A PE that is connected already sends nothing before all are; what can come is its end.
    for (const unique_fd& socket : sockets_)
      if (socket) watched.push_back({socket.get(), POLLRDHUP, 0});
    for (const auto& [pe, process] : processes_) watched.push_back({process.get(), POLLIN, 0});

    const auto pause = std::chrono::ceil<std::chrono::milliseconds>(next - clock::now());
    if (::poll(watched.data(), watched.size(), static_cast<int>(std::max<std::int64_t>(pause.count(), 0))) < 0) {
      if (errno == EINTR) return;
      throw error(code::system, fmt::format("poll: {}", std::strerror(errno)));
    }
    std::set<int> with_news;
    for (const pollfd& one : watched)
      if (one.revents != 0) with_news.insert(one.fd);
    const auto news_of = [&](int fd) { return with_news.contains(fd); };
    for (const auto& [pe, process] : processes_)
      if (news_of(process.get())) throw_died(pe);
    for (std::size_t pe = 0; pe < sockets_.size(); ++pe)
      if (sockets_[pe] && news_of(sockets_[pe].get())) throw_closed(static_cast<int>(pe), "it closed the connection");
    neighbours_.remove_if(
        [&](neighbour& target) { return target.talk && news_of(target.talk->fd()) && answered(target); });
    approaches_.remove_if([&](tcp_connector& one) {
      if (!news_of(one.awaited().fd) || !one.arrived()) return false;
      settle(one.peer(), one.take());
      return true;
    });
    strangers_.remove_if([&](stranger& one) { return news_of(one.talk.fd()) && heard(one); });
    if (news_of(listener_.fd())) accept_neighbours();
    if (remote_ != nullptr && news_of(remote_->listener.fd())) accept_remote();
  }

  /// The answer of a lower PE of this host. Whether there was one.
  bool answered(neighbour& target) {
    switch (target.talk->hear()) {
      case status::under_way: return false;
      case status::ended: throw_closed(target.pe, "it closed the connection without an answer");
      case status::refused:
        throw error(code::authentication,
                    fmt::format("whoever listens at {} does not know this job's secret and is not PE {}",
                                address_of(target.pe).text(), target.pe),
                    target.pe);
      case status::proven: break;
    }
    settle(target.pe, target.talk->take());
    return true;
  }

  /// The words of somebody who connected. Whether the matter is settled, one way or the other.
  bool heard(stranger& one) {
    const status outcome = one.talk.hear();
    if (outcome == status::under_way) return false;
    if (outcome == status::ended) {
      refuse(one.name, "it went away without a word");
      return true;
    }
    const int pe = one.talk.peer();
    const bool expected = pe > me_ && pe < static_cast<int>(all_.size()) && way_to(pe) == one.over;
    if (outcome == status::refused || !expected) {
      refuse(one.name, "it does not know this job's secret");
      return true;
    }
    if (sockets_[static_cast<std::size_t>(pe)]) {
      refuse(one.name, fmt::format("it claims to be PE {}, which is connected already", pe));
      return true;
    }
    if (const int failed = one.talk.confirm(); failed != 0) throw lost(pe, std::strerror(failed));
    settle(pe, one.talk.take());
    return true;
  }

  void accept_neighbours() {
    while (unique_fd fd = listener_.accept()) {
      const std::optional<socket_owner> owner = peer_credentials(fd.get());
      const std::string name = fmt::format("process {}", owner ? owner->pid : 0);
      if (owner && owner->uid == ::geteuid())
        listen_to(std::move(fd), transport::unix_socket, name);
      else
        refuse(name, fmt::format("it runs as user {}", owner ? static_cast<long>(owner->uid) : -1L));
    }
  }

  void accept_remote() {
    for (tcp_listener::caller one = remote_->listener.accept(); one.fd; one = remote_->listener.accept())
      listen_to(std::move(one.fd), transport::tcp, one.address);
  }

  void listen_to(unique_fd fd, transport over, const std::string& name) {
    if (strangers_.size() >= all_.size() + max_strangers) {
      if (!heard(strangers_.front()))
        refuse(strangers_.front().name, "too many connections that have not said who they are");
      strangers_.pop_front();
    }
    stranger& one =
        strangers_.emplace_back(stranger{over, handshake(std::move(fd), over, handshake::role::accepting, secret_, me_),
                                         name, clock::now() + patience_});
    if (one.talk.begin() == 0) return;
    refuse(name, "it went away without a word");
    strangers_.pop_back();
  }

  void drop_the_silent() {
    strangers_.remove_if([&](const stranger& one) {
      if (clock::now() < one.until) return false;
      refuse(one.name, "it has not said who it is");
      return true;
    });
  }

  void settle(int pe, unique_fd fd) {
    join_step("connection");
    sockets_[static_cast<std::size_t>(pe)] = std::move(fd);
    --missing_;
  }

  void refuse(const std::string& name, const std::string& why) {
    log_.warn("refused a connection from {} to this world's socket: {}", name, why);
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

  /// For a PE whose sockets are closed: a process that ends closes them an instant before.
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
    if (!approaches_.empty()) {
      const tcp_connector& first = approaches_.front();
      throw error(code::peer_unreachable,
                  fmt::format("{} cannot reach {} over TCP; tried {}. Is a firewall between the two hosts, or is that "
                              "process stopped? PGAS_SOCKET_IFNAME names the network interface whose addresses are tried",
                              describe_pe(all_, me_), describe_pe(all_, first.peer()), first.answers()),
                  first.peer());
    }
    std::string names;
    int first = -1;
    for (int pe = 0; pe < static_cast<int>(all_.size()); ++pe) {
      if (pe == me_ || sockets_[static_cast<std::size_t>(pe)]) continue;
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
  const tcp_meeting* const remote_;
  const config& settings_;
  log::logger& log_;
  const job_secret secret_;
  std::vector<unique_fd> sockets_;
  std::list<neighbour> neighbours_;
  std::list<tcp_connector> approaches_;
  std::list<stranger> strangers_;
  std::vector<std::pair<int, unique_fd>> processes_;  ///< of this host's PEs, by PE
  std::size_t missing_ = 0;
  clock::time_point deadline_;
  clock::duration patience_{};
};

}  // namespace

std::string describe_pe(const std::vector<peer_descriptor>& all, int pe) {
  const peer_descriptor& one = all[static_cast<std::size_t>(pe)];
  return fmt::format("PE {} (host {}, pid {})", pe, one.host, one.pid);
}

std::vector<unique_fd> connect_all(const std::vector<peer_descriptor>& all, int me, const unix_listener& listener,
                                   const config& settings, log::logger& log, const tcp_meeting* remote) {
  return mesh_connector(all, me, listener, settings, log, remote).run();
}

}  // namespace pgas::detail
