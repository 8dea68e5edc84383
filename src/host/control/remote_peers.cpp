// What PEs of other hosts need beyond those of this one, of whose end the kernel tells: signs of life, and an orderly
// end.
#include <fmt/format.h>

#include <algorithm>

#include "common/net_interface.hpp"
#include "host/control/control_plane_state.hpp"

namespace pgas::detail {

namespace {

/// Enough for a word to every host and back.
constexpr auto finish_timeout = std::chrono::milliseconds(500);

/// Signs of life within the time after which a PE counts as lost: some may be late.
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
  // A connection that is closed with something unread is reset, which may take with it what was sent last. So this side
  // says that it has ended, and goes on reading until the other one has read that and ended, too.
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

bool control_plane_state::several_hosts() const {
  return std::any_of(peers.begin(), peers.end(), [](const peer_info& peer) { return peer.host_index != 0; });
}

std::optional<clock::time_point> control_plane_state::next_wake() const {
  if (!several_hosts()) return std::nullopt;
  return finish_until ? std::min(next_heartbeat, *finish_until) : next_heartbeat;
}

void control_plane_state::check_heartbeats() {
  if (!several_hosts()) return;
  const clock::time_point now = clock::now();
  // A process that did not run itself can't tell for how long the others were silent.
  if (now - last_check > peer_timeout / 2) std::fill(last_seen.begin(), last_seen.end(), now);
  last_check = now;
  const bool send_now = now >= next_heartbeat;
  if (send_now) next_heartbeat = now + peer_timeout / heartbeats_in_timeout;
  message_header heartbeat;
  heartbeat.kind = message_kind::heartbeat;
  for (int pe = 0; pe < n(); ++pe) {
    const auto index = static_cast<std::size_t>(pe);
    if (on_this_host(pe)) continue;
    // A queue that is full says as much.
    if (send_now) static_cast<void>(connections[index]->send(std::as_bytes(std::span(&heartbeat, 1)), {}, {}));
    if (now - last_seen[index] < peer_timeout) continue;
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
