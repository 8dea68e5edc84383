#include "host/world/rendezvous.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <optional>
#include <utility>

namespace pgas::detail {

namespace {

using clock = std::chrono::steady_clock;

/// What either side says to prove that it belongs to the job.
struct proof {
  std::uint64_t magic = 0x706761732d6d6521;  // "pgas-me!"
  std::int32_t pe = -1;
  std::uint32_t reserved = 0;
  std::array<std::byte, 16> half{};
};
static_assert(sizeof(proof) == 32);

/// The two halves of the secret: a stranger can't answer with what it was told.
enum class role { connecting, accepting };

proof make_proof(const job_secret& secret, role who, int pe) {
  proof mine;
  mine.pe = pe;
  const std::size_t at = who == role::connecting ? 0 : mine.half.size();
  std::copy_n(secret.begin() + static_cast<std::ptrdiff_t>(at), mine.half.size(), mine.half.begin());
  return mine;
}

/// Compares in a time that does not tell how much of it was right.
bool same(const proof& a, const proof& b) {
  std::byte difference{0};
  for (std::size_t i = 0; i < a.half.size(); ++i) difference |= a.half[i] ^ b.half[i];
  return difference == std::byte{0} && a.magic == b.magic && a.pe == b.pe;
}

std::optional<proof> parse_proof(std::span<const std::byte> bytes) {
  if (bytes.size() != sizeof(proof)) return std::nullopt;
  proof result;
  std::memcpy(&result, bytes.data(), sizeof(proof));
  return result;
}

/// A connection on its way: to a lower PE, or from somebody who has not said who it is.
struct unproven {
  unique_fd fd;
  int pe = -1;              ///< -1: not known yet
  pid_t pid = 0;            ///< of the process at the other end
  clock::time_point until;  ///< next attempt, or end of patience
};

/// One PE's part in the rendezvous.
class rendezvous {
 public:
  rendezvous(const std::vector<hello>& all, int me, const unix_listener& listener, const config& settings,
             log::logger& log)
      : all_(all),
        me_(me),
        listener_(listener),
        settings_(settings),
        log_(log),
        secret_(combine_secrets(all)),
        sockets_(all.size()) {
    // Less than the bootstrap's own limit, so that the outcome can still be told to the others.
    const auto limit = std::min<std::chrono::milliseconds>(settings.join_timeout * 3 / 4, std::chrono::seconds(20));
    deadline_ = clock::now() + limit;
    patience_ = limit / 4;
    for (int pe = 0; pe < me; ++pe) outgoing_.push_back({unique_fd(), pe, 0, clock::now()});
    missing_ = all.size() - 1;
  }

  std::vector<unique_fd> run() {
    while (missing_ > 0) {
      if (clock::now() >= deadline_) throw_missing();
      start_connections();
      wait_for_news();
      drop_the_silent();
    }
    for (const unproven& left_over : incoming_) refuse(left_over.pid, "it has not said who it is");
    return std::move(sockets_);
  }

 private:
  static constexpr std::size_t max_unproven = 64;  // beyond what the PEs themselves need

  void start_connections() {
    for (unproven& target : outgoing_) {
      if (target.fd || clock::now() < target.until) continue;
      connect_result attempt = connect_to(address_of(target.pe));
      if (attempt.error == EAGAIN) {
        target.until = clock::now() + std::chrono::milliseconds(5);
        continue;
      }
      if (attempt.error != 0)
        throw error(
            code::peer_unreachable,
            fmt::format("{} cannot reach the socket of {}, {}: {}; {}", describe_pe(all_, me_),
                        describe_pe(all_, target.pe), address_of(target.pe).text(), std::strerror(attempt.error),
                        settings_.socket_directory.empty()
                            ? "has that process ended?"
                            : "PGAS_SOCKET_DIR must be one directory that both see, not two of the same name"),
            target.pe);
      const std::optional<socket_owner> owner = owner_of(attempt.fd.get());
      if (!owner || owner->uid != ::geteuid())
        throw error(
            code::authentication,
            fmt::format("the socket at {}, where PE {} should listen, belongs to user {}: nothing was sent to it",
                        address_of(target.pe).text(), target.pe, owner ? static_cast<long>(owner->uid) : -1L),
            target.pe);
      const proof mine = make_proof(secret_, role::connecting, me_);
      if (const int failed = send_packet(attempt.fd.get(), std::as_bytes(std::span(&mine, 1)), {}, {}); failed != 0)
        throw lost(target.pe, std::strerror(failed));
      target.fd = std::move(attempt.fd);
    }
  }

  void wait_for_news() {
    std::vector<pollfd> watched{{listener_.fd(), POLLIN, 0}};
    clock::time_point next = deadline_;
    for (const unproven& target : outgoing_) {
      if (target.fd)
        watched.push_back({target.fd.get(), POLLIN, 0});
      else
        next = std::min(next, target.until);
    }
    for (const unproven& stranger : incoming_) {
      watched.push_back({stranger.fd.get(), POLLIN, 0});
      next = std::min(next, stranger.until);
    }
    // A PE that is connected already sends nothing before all are; what can come is its end.
    for (const unique_fd& socket : sockets_)
      if (socket) watched.push_back({socket.get(), POLLRDHUP, 0});

    const auto pause = std::chrono::ceil<std::chrono::milliseconds>(next - clock::now());
    if (::poll(watched.data(), watched.size(), static_cast<int>(std::max<std::int64_t>(pause.count(), 0))) < 0) {
      if (errno == EINTR) return;
      throw error(code::system, fmt::format("poll: {}", std::strerror(errno)));
    }
    const auto news_of = [&](int fd) {
      const auto found = std::find_if(watched.begin(), watched.end(), [fd](const pollfd& p) { return p.fd == fd; });
      return found != watched.end() && found->revents != 0;
    };
    for (std::size_t pe = 0; pe < sockets_.size(); ++pe)
      if (sockets_[pe] && news_of(sockets_[pe].get())) throw lost(static_cast<int>(pe), "it closed the connection");
    for (auto target = outgoing_.begin(); target != outgoing_.end();)
      target =
          target->fd && news_of(target->fd.get()) && answered(*target) ? outgoing_.erase(target) : std::next(target);
    for (auto stranger = incoming_.begin(); stranger != incoming_.end();)
      stranger = news_of(stranger->fd.get()) && heard(*stranger) ? incoming_.erase(stranger) : std::next(stranger);
    if (news_of(listener_.fd())) accept_waiting();
  }

  /// The answer of a lower PE. Whether there was one.
  bool answered(unproven& target) {
    std::array<std::byte, 64> buffer;
    const received_packet packet = receive_packet(target.fd.get(), buffer);
    if (packet.what == received_packet::status::nothing_yet) return false;
    if (packet.what == received_packet::status::closed)
      throw lost(target.pe, "it closed the connection without an answer");
    const std::optional<proof> theirs = parse_proof(packet.bytes);
    if (!theirs || !same(*theirs, make_proof(secret_, role::accepting, target.pe)))
      throw error(code::authentication,
                  fmt::format("whoever listens at {} does not know this job's secret and is not PE {}",
                              address_of(target.pe).text(), target.pe),
                  target.pe);
    settle(target.pe, std::move(target.fd));
    return true;
  }

  /// The first words of somebody who connected. Whether the matter is settled, one way or the other.
  bool heard(unproven& stranger) {
    std::array<std::byte, 64> buffer;
    const received_packet packet = receive_packet(stranger.fd.get(), buffer);
    if (packet.what == received_packet::status::nothing_yet) return false;
    if (packet.what == received_packet::status::closed) {
      refuse(stranger.pid, "it went away without a word");
      return true;
    }
    const std::optional<proof> theirs = parse_proof(packet.bytes);
    const bool known = theirs && theirs->pe > me_ && theirs->pe < static_cast<int>(all_.size());
    if (!known || !same(*theirs, make_proof(secret_, role::connecting, theirs->pe))) {
      refuse(stranger.pid, "it does not know this job's secret");
      return true;
    }
    if (sockets_[static_cast<std::size_t>(theirs->pe)]) {
      refuse(stranger.pid, fmt::format("it claims to be PE {}, which is connected already", theirs->pe));
      return true;
    }
    const proof mine = make_proof(secret_, role::accepting, me_);
    if (const int failed = send_packet(stranger.fd.get(), std::as_bytes(std::span(&mine, 1)), {}, {}); failed != 0)
      throw lost(theirs->pe, std::strerror(failed));
    settle(theirs->pe, std::move(stranger.fd));
    return true;
  }

  void accept_waiting() {
    while (unique_fd fd = listener_.accept()) {
      const std::optional<socket_owner> owner = owner_of(fd.get());
      if (!owner || owner->uid != ::geteuid()) {
        refuse(owner ? owner->pid : 0, fmt::format("it runs as user {}", owner ? static_cast<long>(owner->uid) : -1L));
        continue;
      }
      if (incoming_.size() >= all_.size() + max_unproven) {
        if (!heard(incoming_.front()))
          refuse(incoming_.front().pid, "too many connections that have not said who they are");
        incoming_.pop_front();
      }
      incoming_.push_back({std::move(fd), -1, owner->pid, clock::now() + patience_});
    }
  }

  void drop_the_silent() {
    for (auto stranger = incoming_.begin(); stranger != incoming_.end();) {
      if (clock::now() < stranger->until) {
        ++stranger;
        continue;
      }
      refuse(stranger->pid, "it has not said who it is");
      stranger = incoming_.erase(stranger);
    }
  }

  void settle(int pe, unique_fd fd) {
    sockets_[static_cast<std::size_t>(pe)] = std::move(fd);
    --missing_;
  }

  void refuse(pid_t pid, const std::string& why) {
    log_.warn("refused a connection from process {} to this world's socket: {}", pid, why);
  }

  [[nodiscard]] unix_address address_of(int pe) const {
    return {settings_.socket_directory, all_[static_cast<std::size_t>(pe)].socket_name};
  }

  [[nodiscard]] error lost(int pe, const std::string& how) const {
    return error(code::peer_lost, fmt::format("{} was lost while joining: {}", describe_pe(all_, pe), how), pe);
  }

  [[noreturn]] void throw_missing() const {
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

  const std::vector<hello>& all_;
  const int me_;
  const unix_listener& listener_;
  const config& settings_;
  log::logger& log_;
  const job_secret secret_;
  std::vector<unique_fd> sockets_;
  std::list<unproven> outgoing_;
  std::list<unproven> incoming_;
  std::size_t missing_ = 0;
  clock::time_point deadline_;
  clock::duration patience_{};
};

}  // namespace

std::string describe_pe(const std::vector<hello>& all, int pe) {
  const hello& one = all[static_cast<std::size_t>(pe)];
  return fmt::format("PE {} (host {}, pid {})", pe, one.host, one.pid);
}

std::vector<unique_fd> connect_all(const std::vector<hello>& all, int me, const unix_listener& listener,
                                   const config& settings, log::logger& log) {
  return rendezvous(all, me, listener, settings, log).run();
}

}  // namespace pgas::detail
