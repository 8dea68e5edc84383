// The thread that reads from all connections: contributions, failures, departures, heartbeats, and the end of a peer.
#include <fmt/format.h>
#include <poll.h>

#include <cstring>
#include <exception>
#include <utility>

#include "common/thread.hpp"
#include "host/control/control_plane_state.hpp"

namespace pgas::detail {

namespace {

/// Runs a step of the reader. An exception ends the world, not the process. False if there was one.
template <class Step>
bool guarded(control_plane_state& state, Step&& step) noexcept {
  try {
    step();
    return true;
  } catch (const error& why) {
    state.set_failure(why, control_plane_state::origin::here);
  } catch (const std::exception&) {
    state.set_failure(state.no_memory, control_plane_state::origin::here);
  }
  return false;
}

}  // namespace

void control_plane_state::start_reader() {
  next_heartbeat = last_check = clock::now();
  last_seen = std::vector<std::atomic<clock::time_point>>(connections.size());
  for (auto& one : last_seen) one = next_heartbeat;
  for (int pe = 0; pe < n(); ++pe) {
    if (pe == me) continue;
    const int fd = connections[static_cast<std::size_t>(pe)]->fd();
    loop->watch(fd, POLLIN, [this, pe, fd](short) {
      last_seen[static_cast<std::size_t>(pe)] = clock::now();
      if (!read_from(pe)) loop->forget(fd);
    });
  }
  for (const watched_process& one : processes)
    loop->watch(one.fd.get(), POLLIN, [this, &one](short) { on_process_end(one); });
  questions->start();
  reader = start_thread("pgas-control", [this] { run_reader(); });
}

void control_plane_state::stop_reader() noexcept {
  if (!reader.joinable()) return;
  {
    const std::lock_guard lock(mutex);
    left = true;  // from here on no event is a failure
  }
  stopping = true;
  loop->wake();
  reader.join();
}

void control_plane_state::run_reader() {
  while (guarded(*this, [this] { loop->run_once(next_wake()); })) {
    if (stopping.exchange(false)) finish_remote();
    guarded(*this, [this] { check_heartbeats(); });
    guarded(*this, [this] { check_leavers(); });
    questions->check();
    if (finish_until && finished_remote()) return;
  }
}

bool control_plane_state::read_from(int pe, bool died) {
  bool more = true;
  guarded(*this, [&] {
    for (;;) {
      received_packet message = connections[static_cast<std::size_t>(pe)]->receive();
      const bool nothing = message.what == received_packet::status::nothing_yet;
      if (nothing && !died) return;
      if (nothing || message.what == received_packet::status::closed) {
        on_disconnect(pe);
        more = false;
        return;
      }
      handle(pe, std::move(message));
    }
  });
  return more;
}

void control_plane_state::handle(int pe, received_packet message) {
  if (connections[static_cast<std::size_t>(pe)]->is_forged())
    throw error(
        code::authentication,
        fmt::format("what came over the connection from {} was changed on the way, or sent by another process: "
                    "something between the two hosts interferes. Use a network that only the job's hosts are in",
                    describe(pe)),
        pe);
  control_header header;
  if (message.what == received_packet::status::complete && message.bytes.size() >= sizeof(header))
    std::memcpy(&header, message.bytes.data(), sizeof(header));
  else
    header.magic = 0;
  if (header.magic != control_header::expected_magic || header.bytes != message.bytes.size() - sizeof(header))
    throw error(code::bootstrap_protocol, fmt::format("{} sent a malformed message", describe(pe)), pe);
  const std::span<const std::byte> body = message.bytes.subspan(sizeof(header));

  switch (header.kind) {
    case message_kind::contribution: {
      contribution received{blob(body.begin(), body.end()), std::move(message.fds), false};
      if (message.descriptors_lost || received.fds.size() != header.fds) {
        received.fds.clear();
        received.fds_lost = true;
        log.warn(
            "{} descriptors from PE {} were lost: this process may open no more files, raise the limit (ulimit -n)",
            header.fds, pe);
      }
      {
        const std::lock_guard lock(mutex);
        pending_collectives& under_way = groups[header.group];
        under_way.add(header.sequence, pe, header.call, std::move(received));
        // All PEs leave: from now on the end of one is no failure, with or without a departure message.
        if (under_way.all_leave(header.sequence)) departed.assign(departed.size(), true);
      }
      changed.notify_all();
      return;
    }
    case message_kind::failure: set_failure(decode_error(body), origin::peer); return;
    case message_kind::heartbeat: ++heartbeats_received; return;
    case message_kind::question:
      return questions->on_question(pe, header.sequence, static_cast<question>(header.group));
    case message_kind::answer: return questions->on_answer(header.sequence, body);
    case message_kind::departure: {
      const std::lock_guard lock(mutex);
      departed[static_cast<std::size_t>(pe)] = true;
      return;
    }
  }
  throw error(code::bootstrap_protocol, fmt::format("{} sent a message of an unknown kind", describe(pe)), pe);
}

}  // namespace pgas::detail
