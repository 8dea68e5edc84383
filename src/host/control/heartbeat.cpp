// Heartbeats and an orderly end for PEs of other hosts. For PEs of this host the kernel reports the end.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "common/net/address.hpp"
#include "host/control/control_plane_state.hpp"

namespace pgas::detail {

namespace {

/// Enough for a round trip to every host.
constexpr auto finish_timeout = std::chrono::milliseconds(500);

/// More than one in the time after which a PE counts as lost, since some may be late.
constexpr int heartbeats_in_timeout = 4;

}  // namespace

bool control_plane_state::on_this_host(int pe) const {
  return peers[static_cast<std::size_t>(pe)].host_index == peers[static_cast<std::size_t>(me)].host_index;
}

std::vector<std::string> control_plane::interfaces() const {
  std::vector<std::string> names;
  for (int pe = 0; pe < state_->n(); ++pe) {
    if (state_->on_this_host(pe)) continue;
    std::string name = interface_of(state_->connections[static_cast<std::size_t>(pe)]->fd());
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

void control_plane_state::finish_remote() {
  // Closing a connection with unread data resets it, which may discard the last messages to the peer. So this side ends
  // its sending direction, and reads on until the peer has done the same.
  finish_until = clock::now() + finish_timeout;
  for (int pe = 0; pe < n(); ++pe)
    if (!on_this_host(pe)) connections[static_cast<std::size_t>(pe)]->finish();
}

bool control_plane_state::finished_remote() {
  if (clock::now() >= *finish_until) return true;
  const std::lock_guard lock(mutex);
  for (int pe = 0; pe < n(); ++pe)
    if (!on_this_host(pe) && !ended[static_cast<std::size_t>(pe)]) return false;
  return true;
}

control_statistics control_plane::statistics() const {
  control_statistics found{state_->heartbeats_sent, state_->heartbeats_received, {}};
  found.silence.resize(static_cast<std::size_t>(state_->n()));
  const clock::time_point now = clock::now();
  for (int pe = 0; pe < state_->n(); ++pe) {
    const auto index = static_cast<std::size_t>(pe);
    if (!state_->on_this_host(pe))
      found.silence[index] = std::chrono::duration_cast<std::chrono::milliseconds>(
          std::max(now - state_->last_seen[index].load(), clock::duration::zero()));
  }
  return found;
}

bool control_plane_state::several_hosts() const {
  return std::any_of(peers.begin(), peers.end(), [](const peer_info& peer) { return peer.host_index != 0; });
}

std::optional<clock::time_point> control_plane_state::next_wake() const {
  std::optional<clock::time_point> next = questions->next_wake();
  const auto not_after = [&next](clock::time_point at) { next = next ? std::min(*next, at) : at; };
  if (metrics) not_after(metrics->next_wake());
  if (several_hosts()) not_after(next_heartbeat);
  if (finish_until) not_after(*finish_until);
  return next;
}

void control_plane_state::check_heartbeats() {
  if (!several_hosts()) return;
  const clock::time_point now = clock::now();
  // A process that was stopped cannot tell for how long its peers were silent.
  if (now - last_check > peer_timeout / 2)
    for (auto& one : last_seen) one = now;
  last_check = now;
  const bool send_now = now >= next_heartbeat;
  if (send_now) next_heartbeat = now + peer_timeout / heartbeats_in_timeout;
  message_header heartbeat;
  heartbeat.kind = message_kind::heartbeat;
  for (int pe = 0; pe < n(); ++pe) {
    const auto index = static_cast<std::size_t>(pe);
    if (on_this_host(pe)) continue;
    // If the queue is full, the peer has unread messages, which serve as well.
    if (send_now) {
      const int why = connections[index]->send(std::as_bytes(std::span(&heartbeat, 1)), {}, {});
      if (why == 0 || why == EINPROGRESS) ++heartbeats_sent;
    }
    if (now - last_seen[index].load() < peer_timeout) continue;
    {
      const std::lock_guard lock(mutex);
      if (ended[index] || departed[index]) continue;
      ended[index] = true;
    }
    changed.notify_all();
    set_failure(
        error(code::peer_lost,
              fmt::format("{} has not been heard of for {} s: its host or the network is down, or the process is "
                          "stopped; PGAS_HEARTBEAT_TIMEOUT sets the limit",
                          describe(pe), std::chrono::duration<double>(peer_timeout).count()),
              pe),
        origin::here);
  }
}

}  // namespace pgas::detail
