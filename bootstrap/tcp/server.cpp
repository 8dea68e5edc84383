#include "bootstrap/tcp/server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "bootstrap/common/socket.hpp"
#include "bootstrap/common/text.hpp"
#include "bootstrap/tcp/address.hpp"
#include "bootstrap/tcp/connect.hpp"

namespace pgas::boot {
namespace {

constexpr milliseconds time_to_prove{10'000};
constexpr milliseconds time_to_read_a_refusal{2'000};
constexpr milliseconds pause_without_descriptors{100};
constexpr std::size_t most_strangers = 1024;

/// Reads what is there of `into`. False when the connection has ended.
[[nodiscard]] bool receive_some(int fd, std::span<std::byte> into, std::size_t& have) {
  while (have < into.size()) {
    const ssize_t got = ::recv(fd, into.data() + have, into.size() - have, 0);
    if (got > 0)
      have += static_cast<std::size_t>(got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
      return false;
    else if (errno == EAGAIN)
      break;
  }
  return true;
}

[[nodiscard]] bool send_now(int fd, std::span<const std::byte> bytes) {
  return send_all(fd, bytes, deadline{milliseconds{0}}) == 0;  // small, and nothing was sent before it
}

}  // namespace

server::server(const bits128& key, std::vector<unique_fd> listeners) : key_(key), listeners_(std::move(listeners)) {
  for (const unique_fd& listener : listeners_)
    loop_.watch(listener.get(), POLLIN, [this, fd = listener.get()](short) { accept_from(fd); });
  // Signals belong to the application's threads.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread{[this] { run(); }};
  } catch (const std::exception& why) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw_no_thread(why);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

server::~server() {
  loop_.post([this] { stopping_ = true; });
  thread_.join();
}

void server::open(std::uint32_t instance, int size, unique_fd own_end) {
  loop_.post([this, instance, size, end = std::make_shared<unique_fd>(std::move(own_end))] {
    auto center = std::make_unique<hub>(loop_, size);
    (void)center->attach(0, std::move(*end));
    worlds_[instance] = world{.center = std::move(center), .closed = nullptr, .due = {}};
    std::vector<std::uint64_t> waiting;
    for (const auto& [id, who] : visitors_)
      if (who.now == visitor::phase::parked && who.greeting.instance == instance) waiting.push_back(id);
    for (const std::uint64_t id : waiting) admit(id);
  });
}

void server::close(std::uint32_t instance, bool all_are_to_hear, milliseconds limit) {
  auto closed = std::make_shared<std::promise<void>>();
  const auto done = closed->get_future();
  // The loop alone keeps the promise: where it ends, the promise goes and so does the wait.
  loop_.post([this, instance, all_are_to_hear, limit, closed = std::move(closed)] {
    const auto found = worlds_.find(instance);
    if (found == worlds_.end()) return closed->set_value();
    found->second.closed = closed;
    found->second.all_are_to_hear = all_are_to_hear;
    found->second.due = deadline{limit}.at();
  });
  (void)done.wait_for(limit + milliseconds{1000});
}

void server::run() {
  try {
    while (!stopping_) {
      loop_.run_once(next_wake());
      expire();
    }
  } catch (const std::exception& why) {
    give_up(why.what());
  }
}

void server::give_up(std::string_view why) {
  try {
    for (const auto& [instance, one] : worlds_)
      one.center->fail(code::system, 0, fmt::format("the thread of rank 0 that serves all others failed: {}", why));
  } catch (const std::exception&) {  // no memory for that; the connections that end say it too
  }
  worlds_.clear();
  visitors_.clear();
  listeners_.clear();
  loop_.end();
}

std::optional<clock::time_point> server::next_wake() const {
  std::optional<clock::time_point> next = accept_again_;
  const auto consider = [&next](clock::time_point at) { next = next ? std::min(*next, at) : at; };
  for (const auto& [id, who] : visitors_)
    if (who.now != visitor::phase::parked) consider(who.due);
  for (const auto& [instance, one] : worlds_) {
    if (one.center->due()) consider(*one.center->due());
    if (one.closed) consider(one.due);
  }
  return next;
}

void server::expire() {
  const auto now = clock::now();
  if (accept_again_ && *accept_again_ <= now) set_accepting(true);
  std::vector<std::uint64_t> late;
  for (const auto& [id, who] : visitors_)
    if (who.now != visitor::phase::parked && who.due <= now) late.push_back(id);
  for (const std::uint64_t id : late) {
    if (visitors_.at(id).now == visitor::phase::refused)
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

void server::set_accepting(bool on) {
  for (const unique_fd& listener : listeners_) loop_.change(listener.get(), on ? POLLIN : 0);
  accept_again_ = on ? std::nullopt : std::optional{deadline{pause_without_descriptors}.at()};
}

void server::accept_from(int listener) {
  for (;;) {
    address peer;
    peer.length = sizeof peer.storage;
    unique_fd socket{
        ::accept4(listener, reinterpret_cast<sockaddr*>(&peer.storage), &peer.length, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (!socket) {
      const int number = errno;
      if (number == EINTR || number == ECONNABORTED) continue;
      if (number == EAGAIN) return;
      if (drop_oldest_stranger()) continue;  // descriptors or memory have run out
      return set_accepting(false);
    }
    if (strangers_ == most_strangers) drop_oldest_stranger();
    tune_connection(socket.get());
    const std::uint64_t id = next_visitor_++;
    loop_.watch(socket.get(), POLLIN, [this, id](short revents) { react(id, revents); });
    visitors_.emplace(id, visitor{.socket = std::move(socket),
                                  .from = peer.text(),
                                  .due = deadline{time_to_prove}.at(),
                                  .greeting = {},
                                  .offer = {}});
    ++strangers_;
  }
}

bool server::drop_oldest_stranger() {
  for (const auto& [id, who] : visitors_) {
    if (who.now != visitor::phase::greeting && who.now != visitor::phase::proving) continue;
    drop(id);
    return true;
  }
  return false;
}

void server::react(std::uint64_t id, short revents) {
  visitor& who = visitors_.at(id);
  switch (who.now) {
    case visitor::phase::greeting:
      if (!receive_some(who.socket.get(), std::as_writable_bytes(std::span{&who.greeting, 1}), who.have))
        turn_away(id, "it said nothing that makes sense");
      else if (who.have == sizeof who.greeting)
        challenge_stranger(id, who);
      break;
    case visitor::phase::proving:
      if (!receive_some(who.socket.get(), who.proof, who.have))
        drop(id);  // a member that reached rank 0 at several addresses goes on with one
      else if (who.have == sizeof who.proof)
        judge(id, who);
      break;
    case visitor::phase::parked:
      if ((revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) drop(id);
      break;
    case visitor::phase::refused: {
      std::byte rest[256];
      std::size_t have = 0;
      if (!receive_some(who.socket.get(), rest, have)) drop(id);
      break;
    }
  }
}

void server::challenge_stranger(std::uint64_t id, visitor& who) {
  if (who.greeting.magic != hello::expected_magic) return turn_away(id, "it speaks another protocol");
  who.offer.nonce = random_bits();
  who.offer.code = handshake_code(key_, handshake_side::rank0, who.greeting, who.offer.nonce);
  if (!send_now(who.socket.get(), bytes_of(who.offer))) return drop(id);
  if (who.greeting.version != hello::expected_version) return turn_away(id, "it uses another version of the library");
  who.now = visitor::phase::proving;
  who.have = 0;
}

void server::judge(std::uint64_t id, visitor& who) {
  if (!same_bits(who.proof, handshake_code(key_, handshake_side::member, who.greeting, who.offer.nonce)))
    return turn_away(id, "it does not know the secret of this job");
  --strangers_;
  who.now = visitor::phase::parked;
  loop_.change(who.socket.get(), POLLRDHUP);
  if (worlds_.contains(who.greeting.instance)) admit(id);
}

void server::admit(std::uint64_t id) {
  visitor& who = visitors_.at(id);
  hub& center = *worlds_.at(who.greeting.instance).center;
  const auto size = static_cast<std::uint32_t>(center.size());
  const std::uint32_t rank = who.greeting.rank;
  if (who.greeting.size != size)
    return refuse(
        id, code::bootstrap_protocol,
        fmt::format("rank {} says that the job has {} processes, rank 0 that it has {}. Give all the same size", rank,
                    who.greeting.size, size));
  if (rank >= size)
    return refuse(id, code::bootstrap_protocol, fmt::format("rank {} does not exist in a job of {}", rank, size));
  const int socket = who.socket.get();
  loop_.forget(socket);
  unique_fd taken = std::move(who.socket);
  if (center.attach(static_cast<int>(rank), std::move(taken))) {
    visitors_.erase(id);
    return;
  }
  // attach() left `taken` alone, so the connection is still ours.
  who.socket = std::move(taken);
  loop_.watch(socket, POLLIN, [this, id](short revents) { react(id, revents); });
  refuse(id, code::bootstrap_protocol,
         fmt::format("there is a rank {} in this job already. Give each process a rank of its own", rank));
}

void server::refuse(std::uint64_t id, code why, std::string text) {
  visitor& who = visitors_.at(id);
  who.now = visitor::phase::refused;
  who.due = deadline{time_to_read_a_refusal}.at();
  loop_.change(who.socket.get(), POLLIN);
  const shared_frame frame = make_failure(why, static_cast<int>(who.greeting.rank), text);
  if (!send_now(who.socket.get(), *frame)) return drop(id);
  ::shutdown(who.socket.get(), SHUT_WR);
}

void server::turn_away(std::uint64_t id, std::string_view why) {
  ++turned_away_;
  last_turned_away_ = fmt::format("{}, because {}", visitors_.at(id).from, why);
  for (const auto& [instance, one] : worlds_)
    one.center->remark(
        fmt::format("{} connections were turned away, the last from {}", turned_away_, last_turned_away_));
  drop(id);
}

void server::drop(std::uint64_t id) {
  const auto found = visitors_.find(id);
  visitor& who = found->second;
  if (who.now == visitor::phase::greeting || who.now == visitor::phase::proving) --strangers_;
  loop_.forget(who.socket.get());
  visitors_.erase(found);
}

}  // namespace pgas::boot
