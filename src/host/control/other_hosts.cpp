// Connections to PEs of other hosts: their network interfaces, the times of silence, and the orderly end of a world of
// several hosts.
#include <algorithm>

#include "common/net/address.hpp"
#include "host/control/control_plane_state.hpp"

namespace pgas::detail {

bool control_plane_state::on_this_host(int pe) const {
  return peers[static_cast<std::size_t>(pe)].host_index == peers[static_cast<std::size_t>(me)].host_index;
}

std::vector<std::string> control_plane::interfaces() const {
  std::vector<std::string> names;
  for (const auto& [pe, one] : state_->links->all()) {
    std::string name = one.remote ? interface_of(one.to->fd()) : std::string();
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

bool control_plane_state::finished() {
  // Closing a TCP connection with unread data resets the connection, which may discard the last messages to the peer.
  // So this side ends its sending direction, and reads until the peer has ended its own.
  if (clock::now() >= *finish_until) return true;
  if (!links->finish()) return false;
  return std::ranges::none_of(links->all(), [](const auto& each) { return each.second.remote && !each.second.ended; });
}

control_statistics control_plane::statistics() const {
  control_statistics found{state_->heartbeats_sent, state_->heartbeats_received, {}};
  found.silence.resize(static_cast<std::size_t>(state_->n()));
  const clock::time_point now = clock::now();
  for (const auto& [pe, one] : state_->links->all())
    if (one.remote)
      found.silence[static_cast<std::size_t>(pe)] = std::chrono::duration_cast<std::chrono::milliseconds>(
          std::max(now - one.last_seen.load(), clock::duration::zero()));
  return found;
}

std::optional<clock::time_point> control_plane_state::next_wake() const {
  std::optional<clock::time_point> next = questions->next_wake();
  const auto not_after = [&next](clock::time_point at) { next = next ? std::min(*next, at) : at; };
  if (several_hosts) not_after(std::min(next_heartbeat, next_silence));
  if (finish_until) not_after(*finish_until);
  if (const auto at = links->next_flush()) not_after(*at);
  const std::lock_guard lock(mutex);
  if (next_status) not_after(*next_status);
  if (!failure)
    for (const device_collective* const each : on_devices)
      if (each->leaves_since_) not_after(*each->leaves_since_ + join_timeout);
  return next;
}

}  // namespace pgas::detail
