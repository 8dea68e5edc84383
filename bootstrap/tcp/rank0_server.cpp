#include "bootstrap/tcp/rank0_server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>

#include "common/thread.hpp"

namespace pgas::boot {
namespace {

constexpr milliseconds time_to_prove{10'000};
constexpr milliseconds time_to_read_a_refusal{2'000};
constexpr milliseconds pause_without_descriptors{100};
constexpr std::size_t max_unproven = 1024;

}  // namespace

rank0_server::rank0_server(const bits128& key, std::vector<tcp_listener> listeners)
    : key_(key), listeners_(std::move(listeners)) {
  for (const tcp_listener& one : listeners_) loop_.watch(one.fd(), POLLIN, [this, &one](short) { accept_from(one); });
  thread_ = start_thread("pgas-hub", [this] { run(); });
}

rank0_server::~rank0_server() {
  loop_.post([this] { stopping_ = true; });
  thread_.join();
}

void rank0_server::open(std::uint32_t instance, int size, unique_fd own_end) {
  loop_.post([this, instance, size, end = std::make_shared<unique_fd>(std::move(own_end))] {
    auto center = std::make_unique<world_hub>(loop_, size);
    center->attach(0, std::move(*end));
    worlds_[instance] = world{.center = std::move(center), .closed = nullptr, .due = {}};
    std::vector<std::uint64_t> waiting;
    for (const auto& [id, who] : pending_)
      if (who.now == pending_connection::phase::parked && who.talk.introduction().world == instance)
        waiting.push_back(id);
    for (const std::uint64_t id : waiting) admit(id);
  });
}

void rank0_server::close(std::uint32_t instance, bool all_are_to_hear, milliseconds limit) {
  auto closed = std::make_shared<std::promise<void>>();
  const auto done = closed->get_future();
  // Only the loop holds the promise: if the loop ends, the promise is destroyed and the wait ends.
  loop_.post([this, instance, all_are_to_hear, limit, closed = std::move(closed)] {
    const auto found = worlds_.find(instance);
    if (found == worlds_.end()) return closed->set_value();
    found->second.closed = closed;
    found->second.all_are_to_hear = all_are_to_hear;
    found->second.due = deadline{limit}.at();
  });
  (void)done.wait_for(limit + milliseconds{1000});
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
  } catch (const std::exception&) {  // no memory for the message; the end of the connections serves instead
  }
  worlds_.clear();
  pending_.clear();
  listeners_.clear();
  loop_.end();
}

std::optional<clock::time_point> rank0_server::next_wake() const {
  std::optional<clock::time_point> next = accept_again_;
  const auto consider = [&next](clock::time_point at) { next = next ? std::min(*next, at) : at; };
  for (const auto& [id, who] : pending_)
    if (who.now != pending_connection::phase::parked) consider(who.due);
  for (const auto& [instance, one] : worlds_) {
    if (one.center->due()) consider(*one.center->due());
    if (one.closed) consider(one.due);
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
    auto& [center, closed, all_are_to_hear, due] = at->second;
    if (center->due() && *center->due() <= now) center->expire();
    const bool all_heard = center->drained() && (center->complete() || !all_are_to_hear);
    if (closed && (all_heard || due <= now)) {
      closed->set_value();
      at = worlds_.erase(at);
    } else {
      ++at;
    }
  }
}

void rank0_server::set_accepting(bool on) {
  for (const tcp_listener& listener : listeners_) loop_.change(listener.fd(), on ? POLLIN : 0);
  accept_again_ = on ? std::nullopt : std::optional{deadline{pause_without_descriptors}.at()};
}

void rank0_server::accept_from(const tcp_listener& listener) {
  for (;;) {
    tcp_listener::caller one = listener.accept();
    if (!one.fd) {
      if (one.error == 0) return;
      if (drop_oldest_unproven()) continue;  // descriptors or memory have run out
      return set_accepting(false);
    }
    if (unproven_ == max_unproven) drop_oldest_unproven();
    watch_for_dead_host(one.fd.get());
    const std::uint64_t id = next_id_++;
    loop_.watch(one.fd.get(), POLLIN, [this, id](short revents) { react(id, revents); });
    pending_.emplace(id, pending_connection{.talk = handshake(std::move(one.fd), key_, 0),
                                            .from = std::move(one.address),
                                            .due = deadline{time_to_prove}.at()});
    ++unproven_;
  }
}

bool rank0_server::drop_oldest_unproven() {
  const auto oldest = std::ranges::find_if(
      pending_, [](const auto& entry) { return entry.second.now == pending_connection::phase::proving; });
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
    case handshake::status::ended:  // a member that reaches rank 0 at several addresses goes on with one
      return who.talk.introduced() ? drop(id) : turn_away(id, "it said nothing that makes sense");
    case handshake::status::foreign: return turn_away(id, "it speaks another protocol");
    case handshake::status::wrong_version: return turn_away(id, "it uses another version of the library");
    case handshake::status::refused: return turn_away(id, "it does not know the secret of this job");
    case handshake::status::proven:
    case handshake::status::welcomed: break;
  }
  --unproven_;
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
  loop_.forget(who.talk.fd());
  center.attach(claim.from, who.talk.take());
  pending_.erase(id);
}

void rank0_server::refuse(std::uint64_t id, code why, std::string text) {
  pending_connection& who = pending_.at(id);
  who.now = pending_connection::phase::refused;
  who.due = deadline{time_to_read_a_refusal}.at();
  loop_.change(who.talk.fd(), POLLIN);
  const shared_frame frame = make_failure({why, text, who.talk.introduction().from});
  if (!send_now(who.talk.fd(), *frame)) return drop(id);
  ::shutdown(who.talk.fd(), SHUT_WR);
}

void rank0_server::turn_away(std::uint64_t id, std::string_view why) {
  ++refused_;
  last_refused_ = fmt::format("{}, because {}", pending_.at(id).from, why);
  for (const auto& [instance, one] : worlds_)
    one.center->remark(fmt::format("{} connections were turned away, the last from {}", refused_, last_refused_));
  drop(id);
}

void rank0_server::drop(std::uint64_t id) {
  const auto found = pending_.find(id);
  pending_connection& who = found->second;
  if (who.now == pending_connection::phase::proving) --unproven_;
  loop_.forget(who.talk.fd());
  pending_.erase(found);
}

}  // namespace pgas::boot
