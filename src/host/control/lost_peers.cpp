// Detection of lost PEs. The kernel reports the end of a process of this host and the end of a connection. PEs of other
// hosts send heartbeats.
#include <fmt/format.h>

#include <algorithm>

#include "host/control/control_plane_state.hpp"

namespace pgas::detail {

namespace {

/// The number of heartbeats in the time after which a PE counts as lost. It is more than one, because a heartbeat may
/// be late.
constexpr int heartbeats_in_timeout = 4;

}  // namespace

void control_plane_state::on_process_end(const watched_process& one) {
  tree_link& neighbour = *links->find(one.pe);
  // A forked child may keep the socket open, but all messages of the process itself have arrived.
  if (!neighbour.ended && read_from(neighbour, true)) return;
  loop->forget(neighbour.to->fd());
  loop->forget(one.fd.get());
}

void control_plane_state::on_disconnect(tree_link& from) {
  // Ends the sending direction. The peer may wait for this end, which proves that this PE has received all its
  // messages.
  if (!from.finished.exchange(true)) from.to->finish();
  from.ended = true;
  bool expected = from.departed;
  {
    const std::lock_guard lock(mutex);
    expected = expected || all_departed;
  }
  changed.notify_all();
  questions->on_end(from.pe);
  if (!expected)
    set_failure(error(code::peer_lost, describe(from.pe) + " ended without leaving the world", from.pe), origin::here);
}

void control_plane::on_launcher_report(int pe, std::string_view how) {
  control_plane_state& state = *state_;
  if (pe < 0 || pe >= state.n() || pe == state.me) return;
  // The reader handles the report: the departure of the PE may have arrived before.
  state.loop->post([&state, pe, how = std::string(how)] {
    const tree_link* const neighbour = state.links->find(pe);
    bool expected = neighbour != nullptr && neighbour->departed;
    expected = expected || state.reached == control_plane_state::stage::leaving;  // the PE may have left before this PE
    if (expected) return;
    state.set_failure(
        error(code::peer_lost, fmt::format("{} has failed, as the launcher reports: {}", state.describe(pe), how), pe),
        control_plane_state::origin::here);
  });
}

void control_plane_state::check_heartbeats() {
  if (!several_hosts) return;
  const clock::time_point now = clock::now();
  // A process that was stopped does not know for how long its peers were silent.
  if (now - last_check > peer_timeout / 2)
    for (auto& [pe, one] : links->all()) one.last_seen = now;
  last_check = now;
  const bool send_now = now >= next_heartbeat;
  if (!send_now && now < next_silence) return;
  if (send_now) next_heartbeat = now + peer_timeout / heartbeats_in_timeout;
  next_silence = next_heartbeat;
  for (auto& [pe, one] : links->all()) {
    if (!one.remote || one.ended) continue;
    // If packets wait in the queue, the peer has unread messages, which replace the heartbeat.
    if (send_now && one.queue.waiting() == 0) {
      outgoing_message beat = message_of(message_kind::heartbeat, me, pe);
      links->send(beat);
      ++heartbeats_sent;
    }
    const clock::time_point silent_at = one.last_seen.load() + peer_timeout;
    if (now < silent_at) {
      next_silence = std::min(next_silence, silent_at);
      continue;
    }
    bool expected = one.departed;
    {
      const std::lock_guard lock(mutex);
      expected = expected || all_departed;
    }
    if (expected) continue;
    one.ended = true;
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
