#include "common/net/admission.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/net/unix_socket.hpp"
#include "common/system_error.hpp"

namespace pgas::detail {

namespace {

constexpr int most_accepted_at_once = 64;  // a limit, so that the loop also serves open connections
constexpr milliseconds pause_without_descriptors{100};

}  // namespace

admission::admission(event_loop& loop, std::span<const std::byte> key, int me, const limits& most,
                     std::function<void(caller)> on_proven,
                     std::function<void(const std::string&, const std::string&)> on_refused)
    : loop_(loop),
      key_(key),
      me_(me),
      limits_(most),
      on_proven_(std::move(on_proven)),
      on_refused_(std::move(on_refused)) {}

admission::~admission() {
  for (const int listener : listeners_) loop_.forget(listener);
  for (const caller& one : callers_) loop_.forget(one.talk.fd());
}

void admission::listen(const tcp_listener& at) {
  listeners_.push_back(at.fd());
  loop_.watch(at.fd(), POLLIN, [this, &at](short) {
    for (int accepted = 0; accepted < most_accepted_at_once; ++accepted) {
      tcp_listener::caller next = at.accept();
      if (next.fd)
        add(std::move(next.fd), std::move(next.address), next.peer ? next.peer->host() : "", next.peer);
      else if (!go_on_after(at.fd(), next.error))
        return;
    }
  });
}

void admission::listen_local(int listener) {
  listeners_.push_back(listener);
  loop_.watch(listener, POLLIN, [this, listener](short) {
    for (int accepted = 0; accepted < most_accepted_at_once; ++accepted) {
      connect_result next = accept_next(listener);
      if (!next.fd) {
        if (go_on_after(listener, next.error)) continue;
        return;
      }
      const std::optional<socket_owner> owner = peer_credentials(next.fd.get());
      std::string name = fmt::format("process {}", owner ? owner->pid : 0);
      if (owner && owner->uid == ::geteuid())
        add(std::move(next.fd), std::move(name), "this user", std::nullopt);
      else
        on_refused_(name, fmt::format("it runs as user {}", owner ? static_cast<long>(owner->uid) : -1L));
    }
  });
}

bool admission::go_on_after(int listener, int failure) {
  if (failure == 0) return false;  // no connection is waiting
  if (!limits_.waits_for_descriptors) throw_system("accept", failure);
  if (make_room(nullptr)) return true;  // no descriptor or no memory is left
  loop_.pause(listener, pause_without_descriptors);
  return false;
}

void admission::add(unique_fd fd, std::string name, std::string host, const std::optional<tcp_address>& address) {
  const auto of_host = std::ranges::count(callers_, host, &caller::host);
  if (static_cast<std::size_t>(of_host) >= limits_.most_of_host)
    make_room(&host);
  else if (callers_.size() >= limits_.most)
    make_room(nullptr);
  const int number = fd.get();
  callers_.push_back({handshake(std::move(fd), key_, me_), std::move(name), std::move(host), address,
                      deadline(limits_.time_to_prove).at()});
  loop_.watch(number, POLLIN, [this, who = std::prev(callers_.end())](short) { receive(who); });
}

bool admission::make_room(const std::string* host) {
  const auto counts = [host](const caller& one) { return host == nullptr || one.host == *host; };
  auto oldest =
      std::ranges::find_if(callers_, [&](const caller& one) { return counts(one) && !one.talk.introduced(); });
  if (oldest == callers_.end()) oldest = std::ranges::find_if(callers_, counts);
  if (oldest == callers_.end()) return false;
  refuse(oldest, "too many connections have not said who they are");
  return true;
}

void admission::receive(place who) {
  switch (who->talk.receive()) {
    case handshake::status::pending: return;
    case handshake::status::ended:
      if (who->talk.introduced())
        static_cast<void>(remove(who));
      else
        refuse(who, "it went away without a word");
      return;
    case handshake::status::foreign: return refuse(who, "it speaks another protocol");
    case handshake::status::wrong_version: return refuse(who, "it uses another version of the library");
    case handshake::status::refused: return refuse(who, "it does not know this job's secret");
    case handshake::status::proven:
    case handshake::status::welcomed: on_proven_(remove(who));
  }
}

caller admission::remove(place who) {
  loop_.forget(who->talk.fd());
  caller removed = std::move(*who);
  callers_.erase(who);
  return removed;
}

void admission::refuse(place who, const std::string& why) { on_refused_(remove(who).name, why); }

std::optional<clock::time_point> admission::due() const {
  return callers_.empty() ? std::nullopt : std::optional(callers_.front().due);
}

void admission::expire() {
  while (!callers_.empty() && clock::now() >= callers_.front().due)
    refuse(callers_.begin(), "it has not said who it is");
}

void admission::refuse_all() {
  for (auto next = callers_.begin(); next != callers_.end();) receive(next++);  // a hello may have arrived
  while (!callers_.empty())
    if (callers_.front().talk.introduced())
      static_cast<void>(remove(callers_.begin()));
    else
      refuse(callers_.begin(), "it has not said who it is");
}

}  // namespace pgas::detail
