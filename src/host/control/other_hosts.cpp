// PEs of other hosts: how they are reached, how long they have been silent, and how a world of several hosts ends in
// order.
#include <algorithm>

#include "common/net/address.hpp"
#include "host/control/control_plane_state.hpp"

namespace pgas::detail {

namespace {

/// Enough for a round trip to every host.
constexpr auto finish_timeout = std::chrono::milliseconds(500);

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
  if (several_hosts()) not_after(next_heartbeat);
  if (finish_until) not_after(*finish_until);
  const std::lock_guard lock(mutex);
  if (!failure)
    for (const device_collective* const each : on_devices)
      if (each->leaves_since_) not_after(*each->leaves_since_ + join_timeout);
  return next;
}

}  // namespace pgas::detail
