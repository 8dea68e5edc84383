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
constexpr std::size_t max_proving = 1024;
constexpr std::size_t max_proving_of_host = 512;  // more processes than a host starts at the same time

}  // namespace

rank0_server::rank0_server(const bits128& key, rank0_listeners listeners)
    : key_(key), listeners_(std::move(listeners)) {
  door_.emplace(
      loop_, key_, 0, admission::limits{time_to_prove, max_proving, max_proving_of_host, true},
      [this](caller who) { park(std::move(who)); },
      [this](const std::string& from, const std::string& why) { remember_refusal(from, why); });
  for (const tcp_listener& one : listeners_.tcp) door_->listen(one);
  if (listeners_.local) door_->listen_local(listeners_.local.get());
  thread_ = start_thread("pgas-hub", [this] { run(); });
}

rank0_server::~rank0_server() {
  stopping_ = true;
  loop_.wake();
  thread_.join();
}

rank0_server::opened_world rank0_server::open(std::uint32_t instance, int size, unique_fd own_end) {
  opened_world made;
  auto fresh = std::make_shared<world>();  // a shared_ptr, because std::function requires copyable captures
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
    std::vector<std::uint64_t> members;
    for (const auto& [id, one] : waiting_)
      if (!one.refused && one.who.talk.introduction().world == instance) members.push_back(id);
    for (const std::uint64_t id : members) admit(id);
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
  } catch (const std::exception&) {  // out of memory: members only detect the end of their connections
  }
  worlds_.clear();
  door_.reset();
  waiting_.clear();
  listeners_ = {};
  loop_.end();
}

std::optional<clock::time_point> rank0_server::next_wake() const {
  std::optional<clock::time_point> next = door_->due();
  const auto consider = [&next](clock::time_point at) { next = next ? std::min(*next, at) : at; };
  for (const auto& [id, one] : waiting_)
    if (one.refused) consider(one.due);
  for (const auto& [instance, one] : worlds_) {
    if (one.center->due()) consider(*one.center->due());
    if (one.end->made) consider(one.end->due);
  }
  return next;
}

void rank0_server::expire() {
  const auto now = clock::now();
  door_->expire();
  std::vector<std::uint64_t> late;
  for (const auto& [id, one] : waiting_)
    if (one.refused && one.due <= now) late.push_back(id);
  for (const std::uint64_t id : late) drop(id);
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

void rank0_server::park(caller who) {
  if (!listeners_.secret && who.address && is_of_this_host(*who.address))
    return remember_refusal(who.name,
                            "it connected over TCP from this host; processes of this host must use the UNIX socket, "
                            "which identifies their user");
  if (who.address) watch_for_dead_host(who.talk.fd());
  const std::uint64_t id = next_id_++;
  const std::uint32_t instance = who.talk.introduction().world;
  loop_.watch(who.talk.fd(), POLLRDHUP, [this, id](short revents) { react(id, revents); });
  waiting_.emplace(id, waiting_connection{std::move(who), false, {}});
  if (worlds_.contains(instance)) admit(id);
}

void rank0_server::react(std::uint64_t id, short revents) {
  const waiting_connection& one = waiting_.at(id);
  if (!one.refused && (revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0) return;
  std::byte rest[256];
  std::size_t have = 0;
  if (!one.refused || receive_some(one.who.talk.fd(), rest, have) == receipt::ended) drop(id);
}

void rank0_server::admit(std::uint64_t id) {
  caller& who = waiting_.at(id).who;
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
    those.last_address = who.name;
  }
  loop_.forget(who.talk.fd());
  const int rank = claim.from;
  proven_socket proven = who.talk.take_proven();
  center.attach(rank, std::move(proven.fd), proven.keys);
  waiting_.erase(id);
}

void rank0_server::refuse(std::uint64_t id, code why, std::string text) {
  waiting_connection& one = waiting_.at(id);
  handshake& talk = one.who.talk;
  one.refused = true;
  one.due = deadline{time_to_read_a_refusal}.at();
  loop_.change(talk.fd(), POLLIN);
  blob sealed;
  frame_cipher(talk.keys().to_send).seal(*make_failure({why, text, talk.introduction().from}), {}, sealed);
  if (send_now(talk.fd(), sealed) != 0) return drop(id);
  ::shutdown(talk.fd(), SHUT_WR);
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

void rank0_server::drop(std::uint64_t id) {
  const auto found = waiting_.find(id);
  loop_.forget(found->second.who.talk.fd());
  waiting_.erase(found);
}

}  // namespace pgas::boot
