// What PEs of other hosts need beyond those of this one, of whose end the kernel tells: signs of life, and an orderly
// end.
#include <fmt/format.h>

#include <algorithm>

#include "common/net_interface.hpp"
#include "host/control/control_plane_state.hpp"

namespace pgas::detail {

namespace {

/// Enough for a word to every host and back.
constexpr auto time_to_finish = std::chrono::milliseconds(500);

/// Signs of life within the time after which a PE counts as lost: some may be late.
constexpr int beats = 4;

}  // namespace

bool control_plane_state::on_this_host(int pe) const {
  return peers[static_cast<std::size_t>(pe)].host_index == peers[static_cast<std::size_t>(me)].host_index;
}

std::vector<std::string> control_plane::interfaces() const {
  std::vector<std::string> names;
  for (int pe = 0; pe < state_->n(); ++pe) {
    if (state_->on_this_host(pe)) continue;
    std::string name = interface_of(state_->channels[static_cast<std::size_t>(pe)]->fd());
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

void control_plane_state::finish_remote() {
  // A connection that is closed with something unread is reset, which may take with it what was sent last. So this side
  // says that it has ended, and goes on reading until the other one has read that and ended, too.
  finish_until = clock::now() + time_to_finish;
  for (int pe = 0; pe < n(); ++pe)
    if (!on_this_host(pe)) channels[static_cast<std::size_t>(pe)]->finish();
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
  return finish_until ? std::min(next_alive, *finish_until) : next_alive;
}

void control_plane_state::check_heartbeats() {
  if (!several_hosts()) return;
  const clock::time_point now = clock::now();
  // A process that did not run itself can't tell for how long the others were silent.
  if (now - last_watch > peer_timeout / 2) std::fill(heard.begin(), heard.end(), now);
  last_watch = now;
  const bool say_so = now >= next_alive;
  if (say_so) next_alive = now + peer_timeout / beats;
  packet_header alive;
  alive.kind = packet_kind::alive;
  for (int pe = 0; pe < n(); ++pe) {
    const auto index = static_cast<std::size_t>(pe);
    if (on_this_host(pe)) continue;
    // A queue that is full says as much.
    if (say_so) static_cast<void>(channels[index]->send(std::as_bytes(std::span(&alive, 1)), {}, {}));
    if (now - heard[index] < peer_timeout) continue;
    {
      const std::lock_guard lock(mutex);
      if (ended[index] || said_bye[index]) continue;
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
