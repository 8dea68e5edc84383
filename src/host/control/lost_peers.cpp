// How a PE is found to be lost: the kernel reports the end of a process of this host, and the end of a connection; PEs
// of other hosts send heartbeats.
#include <fmt/format.h>

#include <cerrno>

#include "host/control/control_plane_state.hpp"

namespace pgas::detail {

namespace {

/// More than one in the time after which a PE counts as lost, since some may be late.
constexpr int heartbeats_in_timeout = 4;

}  // namespace

void control_plane_state::on_process_end(const watched_process& one) {
  const auto has_ended = [&] {
    const std::lock_guard lock(mutex);
    return ended[static_cast<std::size_t>(one.pe)];
  };
  // A forked child may keep the socket open, but all messages of the process itself have arrived by now.
  if (!has_ended() && read_from(one.pe, true)) return;
  loop->forget(connections[static_cast<std::size_t>(one.pe)]->fd());
  loop->forget(one.fd.get());
}

void control_plane_state::on_disconnect(int pe) {
  // The peer may wait for this end, which tells it that all its messages were received.
  connections[static_cast<std::size_t>(pe)]->finish();
  bool expected = false;
  {
    const std::lock_guard lock(mutex);
    ended[static_cast<std::size_t>(pe)] = true;
    expected = departed[static_cast<std::size_t>(pe)];
  }
  changed.notify_all();
  questions->on_end(pe);
  if (!expected)
    set_failure(error(code::peer_lost, describe(pe) + " ended without leaving the world", pe), origin::here);
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
  control_header heartbeat;
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
