#include "bootstrap/tcp/rank0_server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "common/thread.hpp"

namespace pgas::boot {
namespace {

constexpr milliseconds time_to_prove{10'000};
constexpr milliseconds time_to_read_a_refusal{2'000};
constexpr milliseconds pause_without_descriptors{100};
constexpr std::size_t max_proving = 1024;
constexpr std::size_t max_proving_of_host = 512;  // more processes than a host starts at the same time
constexpr int most_accepted_at_once = 64;         // the limit lets the loop serve connections that are already open

}  // namespace

rank0_server::rank0_server(const bits128& key, rank0_listeners listeners)
    : key_(key), listeners_(std::move(listeners)) {
  for (const tcp_listener& one : listeners_.tcp)
    loop_.watch(one.fd(), POLLIN, [this, &one](short) { accept_from(one); });
  if (listeners_.local) loop_.watch(listeners_.local.get(), POLLIN, [this](short) { accept_local(); });
  thread_ = start_thread("pgas-hub", [this] { run(); });
}

rank0_server::~rank0_server() {
  stopping_ = true;
  loop_.wake();
  thread_.join();
}

rank0_server::opened_world rank0_server::open(std::uint32_t instance, int size, unique_fd own_end) {
  opened_world made;
  auto fresh = std::make_shared<world>();  // shared, because a std::function must be copyable
  fresh->end = made.end_;
  made.ended_ = fresh->ended.get_future();
  loop_.post([this, instance, size, fresh = std::move(fresh), own = std::make_shared<unique_fd>(std::move(own_end))] {
    auto center = std::make_unique<world_hub>(loop_, size);
    center->attach(0, std::move(*own));
    remark(*center);
    {
      const std::lock_guard lock{mutex_};
      unproven_.erase(instance);
    }
    fresh->center = std::move(center);
    worlds_.insert_or_assign(instance, std::move(*fresh));
    std::vector<std::uint64_t> waiting;
    for (const auto& [id, who] : pending_)
      if (who.now == pending_connection::phase::parked && who.talk.introduction().world == instance)
        waiting.push_back(id);
    for (const std::uint64_t id : waiting) admit(id);
  });
  return made;
}

void rank0_server::close(opened_world& which, bool all_are_to_hear, milliseconds limit) noexcept {
  which.end_->all_are_to_hear = all_are_to_hear;
  which.end_->due = deadline{limit}.at();
  which.end_->made = true;
  loop_.wake();
  (void)which.ended_.wait_for(limit + milliseconds{1000});
}

void rank0_server::run() {
  try {
    while (!stopping_) {
      loop_.run_once(next_wake());
      expire();
    }
  } catch (const std::exception& why) {
    give_up(why.what());
  }
}

void rank0_server::give_up(std::string_view why) {
  try {
    for (const auto& [instance, one] : worlds_)
      one.center->fail(code::system, 0, fmt::format("the thread of rank 0 that serves all others failed: {}", why));
  } catch (const std::exception&) {  // no memory for the message; members see the end of the connections instead
  }
  worlds_.clear();
  pending_.clear();
  listeners_ = {};
  loop_.end();
}

std::optional<clock::time_point> rank0_server::next_wake() const {
  std::optional<clock::time_point> next = accept_again_;
  const auto consider = [&next](clock::time_point at) { next = next ? std::min(*next, at) : at; };
  for (const auto& [id, who] : pending_)
    if (who.now != pending_connection::phase::parked) consider(who.due);
  for (const auto& [instance, one] : worlds_) {
    if (one.center->due()) consider(*one.center->due());
    if (one.end->made) consider(one.end->due);
  }
  return next;
}

void rank0_server::expire() {
  const auto now = clock::now();
  if (accept_again_ && *accept_again_ <= now) set_accepting(true);
  std::vector<std::uint64_t> late;
  for (const auto& [id, who] : pending_)
    if (who.now != pending_connection::phase::parked && who.due <= now) late.push_back(id);
  for (const std::uint64_t id : late) {
    if (pending_.at(id).now == pending_connection::phase::refused)
      drop(id);
    else
      turn_away(id, "it did not prove itself in time");
  }
  for (auto at = worlds_.begin(); at != worlds_.end();) {
    world_hub& center = *at->second.center;
    if (center.due() && *center.due() <= now) center.expire();
    const auto is_over = [&](const opened_world::end_request& end) {
      return end.due <= now || (center.drained() && (center.complete() || !end.all_are_to_hear));
    };
    if (at->second.end->made && is_over(*at->second.end)) {
      std::promise<void> ended = std::move(at->second.ended);
      at = worlds_.erase(at);
      ended.set_value();
    } else {
      ++at;
    }
  }
}

void rank0_server::set_accepting(bool on) {
  for (const tcp_listener& listener : listeners_.tcp) loop_.change(listener.fd(), on ? POLLIN : 0);
  if (listeners_.local) loop_.change(listeners_.local.get(), on ? POLLIN : 0);
  accept_again_ = on ? std::nullopt : std::optional{deadline{pause_without_descriptors}.at()};
}

void rank0_server::accept_from(const tcp_listener& listener) {
  for (int accepted = 0; accepted < most_accepted_at_once; ++accepted) {
    tcp_listener::caller one = listener.accept();
    if (!one.fd) {
      if (go_on_after(one.error)) continue;
      return;
    }
    watch_for_dead_host(one.fd.get());
    add_pending(std::move(one.fd), std::move(one.address), one.peer ? one.peer->host() : "", one.peer);
  }
}

void rank0_server::accept_local() {
  for (int accepted = 0; accepted < most_accepted_at_once; ++accepted) {
    connect_result one = accept_next(listeners_.local.get());
    if (!one.fd) {
      if (go_on_after(one.error)) continue;
      return;
    }
    const std::optional<socket_owner> owner = peer_credentials(one.fd.get());
    std::string from = fmt::format("process {}", owner ? owner->pid : 0);
    if (owner && owner->uid == ::geteuid())
      add_pending(std::move(one.fd), std::move(from), "this user", std::nullopt);
    else
      remember_refusal(from, fmt::format("it runs as user {}", owner ? static_cast<long>(owner->uid) : -1L));
  }
}

void rank0_server::add_pending(unique_fd fd, std::string from, std::string host,
                               const std::optional<tcp_address>& address) {
  if (proving_[host] >= max_proving_of_host)
    drop_oldest_unproven(host);
  else if (all_proving_ >= max_proving)
    drop_oldest_unproven();
  const std::uint64_t id = next_id_++;
  loop_.watch(fd.get(), POLLIN, [this, id](short revents) { react(id, revents); });
  ++proving_[host];
  ++all_proving_;
  pending_.emplace(id, pending_connection{.talk = handshake(std::move(fd), key_, 0),
                                          .from = std::move(from),
                                          .host = std::move(host),
                                          .address = address,
                                          .due = deadline{time_to_prove}.at()});
}

bool rank0_server::go_on_after(int failure) {
  if (failure == 0) return false;           // no connection is waiting
  if (drop_oldest_unproven()) return true;  // no descriptors or no memory left
  set_accepting(false);
  return false;
}

bool rank0_server::drop_oldest_unproven(const std::optional<std::string>& host) {
  auto oldest = pending_.end();
  for (auto at = pending_.begin(); at != pending_.end(); ++at) {
    const pending_connection& who = at->second;
    if (who.now != pending_connection::phase::proving || (host && who.host != *host)) continue;
    if (oldest == pending_.end()) oldest = at;
    if (who.talk.introduced()) continue;
    oldest = at;
    break;
  }
  if (oldest == pending_.end()) return false;
  drop(oldest->first);
  return true;
}

void rank0_server::react(std::uint64_t id, short revents) {
  pending_connection& who = pending_.at(id);
  if (who.now == pending_connection::phase::proving) return receive(id, who);
  if (who.now == pending_connection::phase::parked) {
    if ((revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) drop(id);
    return;
  }
  std::byte rest[256];
  std::size_t have = 0;
  if (receive_some(who.talk.fd(), rest, have) == receipt::ended) drop(id);
}

void rank0_server::receive(std::uint64_t id, pending_connection& who) {
  switch (who.talk.receive()) {
    case handshake::status::pending: return;
    case handshake::status::ended:  // a member that reaches rank 0 at several addresses continues with one connection
      return who.talk.introduced() ? drop(id) : turn_away(id, "it sent an unknown message");
    case handshake::status::foreign: return turn_away(id, "it speaks another protocol");
    case handshake::status::wrong_version: return turn_away(id, "it uses another version of the library");
    case handshake::status::refused: return turn_away(id, "it does not know the secret of this job");
    case handshake::status::proven:
    case handshake::status::welcomed: break;
  }
  if (!listeners_.secret && who.address && is_of_this_host(*who.address))
    return turn_away(id,
                     "it connected over TCP from this host; processes of this host must use the UNIX socket, which "
                     "identifies their user");
  no_longer_proving(who);
  who.now = pending_connection::phase::parked;
  loop_.change(who.talk.fd(), POLLRDHUP);
  if (worlds_.contains(who.talk.introduction().world)) admit(id);
}

void rank0_server::admit(std::uint64_t id) {
  pending_connection& who = pending_.at(id);
  const hello& claim = who.talk.introduction();
  world_hub& center = *worlds_.at(claim.world).center;
  if (claim.size != static_cast<std::uint32_t>(center.size()))
    return refuse(
        id, code::bootstrap_protocol,
        fmt::format("rank {} says that the job has {} processes, rank 0 that it has {}. Give all the same size",
                    claim.from, claim.size, center.size()));
  if (claim.from < 0 || claim.from >= center.size())
    return refuse(id, code::bootstrap_protocol,
                  fmt::format("rank {} does not exist in a job of {}", claim.from, center.size()));
  if (center.has_come(claim.from))
    return refuse(
        id, code::bootstrap_protocol,
        fmt::format("there is a rank {} in this job already. Give each process a rank of its own", claim.from));
  if (!listeners_.secret && who.address) {
    const std::lock_guard lock{mutex_};
    unproven_members& those = unproven_[claim.world];
    those.ranks.push_back(claim.from);
    those.last_address = who.from;
  }
  loop_.forget(who.talk.fd());
  const int rank = claim.from;
  proven_socket proven = who.talk.take_proven();
  center.attach(rank, std::move(proven.fd), proven.keys);
  pending_.erase(id);
}

void rank0_server::refuse(std::uint64_t id, code why, std::string text) {
  pending_connection& who = pending_.at(id);
  who.now = pending_connection::phase::refused;
  who.due = deadline{time_to_read_a_refusal}.at();
  loop_.change(who.talk.fd(), POLLIN);
  blob sealed;
  frame_cipher(who.talk.keys().to_send).seal(*make_failure({why, text, who.talk.introduction().from}), {}, sealed);
  if (send_now(who.talk.fd(), sealed) != 0) return drop(id);
  ::shutdown(who.talk.fd(), SHUT_WR);
}

void rank0_server::turn_away(std::uint64_t id, std::string_view why) {
  remember_refusal(pending_.at(id).from, why);
  drop(id);
}

void rank0_server::remember_refusal(std::string_view from, std::string_view why) {
  ++refused_;
  last_refused_ = fmt::format("{}, because {}", from, why);
  for (const auto& [instance, one] : worlds_) remark(*one.center);
}

void rank0_server::remark(world_hub& center) const {
  std::string text = listeners_.limits;
  if (refused_ > 0)
    text += fmt::format("{}{} connections were turned away, the last from {}", text.empty() ? "" : "; ", refused_,
                        last_refused_);
  if (!text.empty()) center.remark(std::move(text));
}

rank0_server::unproven_members rank0_server::unproven(std::uint32_t instance) const {
  const std::lock_guard lock{mutex_};
  const auto found = unproven_.find(instance);
  return found == unproven_.end() ? unproven_members{} : found->second;
}

void rank0_server::no_longer_proving(const pending_connection& who) {
  --all_proving_;
  if (const auto of_host = proving_.find(who.host); --of_host->second == 0) proving_.erase(of_host);
}

void rank0_server::drop(std::uint64_t id) {
  const auto found = pending_.find(id);
  pending_connection& who = found->second;
  if (who.now == pending_connection::phase::proving) no_longer_proving(who);
  loop_.forget(who.talk.fd());
  pending_.erase(found);
}

}  // namespace pgas::boot
