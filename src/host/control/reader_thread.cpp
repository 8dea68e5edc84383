// The thread that reads from the neighbours. It handles collectives, failures, departures, heartbeats, and the end of a
// PE. It passes on the messages of other PEs.
#include <fmt/format.h>
#include <poll.h>

#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "common/thread.hpp"
#include "host/control/control_plane_state.hpp"

namespace pgas::detail {

namespace {

/// The time limit for the last messages, enough for a round trip to every neighbour.
constexpr auto finish_timeout = std::chrono::milliseconds(500);

/// Whether a message is dropped if the neighbour does not read.
constexpr bool may_be_lost(message_kind kind) { return kind == message_kind::question || kind == message_kind::answer; }

/// Ends the world because of an exception that no step should throw.
void set_unexpected(control_plane_state& state, const std::exception& why) noexcept {
  try {
    state.set_failure(error(code::system,
                            fmt::format("{}: its control thread failed, which is a fault of the library: {}",
                                        state.describe(state.me), why.what()),
                            state.me),
                      control_plane_state::origin::here);
  } catch (const std::exception&) {
    state.set_failure(state.no_memory, control_plane_state::origin::here);
  }
}

/// Runs a step of the reader. An exception ends the world, not the process. Returns false after an exception.
template <class Step>
bool guarded(control_plane_state& state, Step&& step) noexcept {
  try {
    step();
    return true;
  } catch (const error& why) {
    state.set_failure(why, control_plane_state::origin::here);
  } catch (const std::bad_alloc&) {
    state.set_failure(state.no_memory, control_plane_state::origin::here);
  } catch (const std::exception& why) {
    set_unexpected(state, why);
  }
  return false;
}

}  // namespace

void control_plane_state::start_reader() {
  next_heartbeat = last_check = clock::now();
  for (auto& [pe, neighbour] : links->all()) {
    tree_link* const from = &neighbour;
    from->last_seen = next_heartbeat;
    loop->watch(from->to->fd(), POLLIN, [this, from](short revents) {
      if ((revents & POLLOUT) != 0) links->on_writable(*from);
      if ((revents & ~POLLOUT) == 0) return;
      from->last_seen = clock::now();
      if (!read_from(*from)) loop->forget(from->to->fd());
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
    left = true;  // from now on no event is a failure
  }
  stopping = true;
  loop->wake();
  reader.join();
}

void control_plane_state::run_reader() {
  while (guarded(*this, [this] { loop->run_once(next_wake()); })) {
    if (stopping.exchange(false)) finish_until = clock::now() + finish_timeout;
    guarded(*this, [this] { links->flush(); });
    guarded(*this, [this] { send_statuses(); });
    guarded(*this, [this] { check_heartbeats(); });
    guarded(*this, [this] { check_leavers(); });
    questions->check();
    if (finish_until && finished()) return;
  }
}

bool control_plane_state::read_from(tree_link& from, bool died) {
  bool more = true;
  guarded(*this, [&] {
    for (;;) {
      received_packet packet = from.to->receive();
      const bool nothing = packet.what == received_packet::status::nothing_yet;
      if (nothing && !died) return;
      if (nothing || packet.what == received_packet::status::closed) {
        on_disconnect(from);
        more = false;
        return;
      }
      handle(from, std::move(packet));
    }
  });
  return more;
}

void control_plane_state::handle(tree_link& from, received_packet packet) {
  if (from.to->is_forged())
    throw error(
        code::authentication,
        fmt::format("what came over the connection from {} was changed on the way, or sent by another process: "
                    "something between the two hosts interferes. Use a network that only the job's hosts are in",
                    describe(from.pe)),
        from.pe);
  control_header header;
  if (packet.what == received_packet::status::complete && packet.bytes.size() >= sizeof(header))
    std::memcpy(&header, packet.bytes.data(), sizeof(header));
  else
    header.magic = 0;
  const auto is_pe = [this](std::int32_t pe) { return pe >= 0 && pe < n(); };
  if (header.magic != control_header::expected_magic || header.bytes != packet.bytes.size() - sizeof(header) ||
      !is_pe(header.from) || (header.to != all_pes && !is_pe(header.to)))
    throw error(code::bootstrap_protocol, fmt::format("{} sent a malformed message", describe(from.pe)), from.pe);
  const std::span<const std::byte> body = packet.bytes.subspan(sizeof(header));
  if (header.to != all_pes && header.to != me) {
    // The header still counts descriptors that were lost on this PE, so the receiver finds them lost, too.
    outgoing_message passed{
        header, std::make_shared<parcel>(blob(body.begin(), body.end()), std::vector<int>(), std::move(packet.fds)),
        true};
    if (may_be_lost(header.kind)) return links->offer(passed);
    const std::lock_guard order(sending);
    return links->send(passed);
  }
  std::optional<arrived_message> message = assembler.add(header, body, std::move(packet.fds), packet.descriptors_lost);
  if (message) handle(std::move(*message), from.pe);
}

void control_plane_state::handle(arrived_message message, int from) {
  const control_header& header = message.header;
  switch (header.kind) {
    case message_kind::up:
    case message_kind::down:
    case message_kind::status:
    case message_kind::abandon: return handle_exchange(std::move(message));
    case message_kind::failure: return set_failure(decode_error(message.bytes), origin::peer);
    case message_kind::heartbeat: ++heartbeats_received; return;
    case message_kind::question: {
      outgoing_message same = message_of(header.kind, header.from);
      same.header.group = header.group;
      same.header.sequence = header.sequence;
      links->offer_to_neighbours(same, from);
      return questions->on_question(header.from, header.sequence, static_cast<question>(header.group));
    }
    case message_kind::answer: return questions->on_answer(header.sequence, message.bytes);
    case message_kind::departure:
      if (tree_link* const neighbour = links->find(header.from)) neighbour->departed = true;
      return;
  }
  throw error(code::bootstrap_protocol, fmt::format("{} sent a message of an unknown kind", describe(header.from)),
              header.from);
}

void control_plane_state::handle_exchange(arrived_message message) {
  std::optional<error> wrong;
  {
    const std::lock_guard order(sending);
    group_exchange::messages out;
    {
      const std::lock_guard lock(mutex);
      const control_group::identity id = message.header.group;
      group_exchange& under_way = groups.try_emplace(id, id).first->second;
      under_way.receive(std::move(message), clock::now(), out);
      note_progress(under_way, id);
      wrong = wrong_call(under_way, id);
    }
    deliver(out);
  }
  if (wrong) set_failure(*wrong, origin::here);
  changed.notify_all();
}

void control_plane_state::send_statuses() {
  const std::lock_guard order(sending);
  group_exchange::messages out;
  {
    const std::lock_guard lock(mutex);
    const clock::time_point now = clock::now();
    if (!next_status || now < *next_status) return;
    next_status.reset();
    for (auto& [id, one] : groups) {
      one.send_status(now, out);
      if (const auto at = one.next_status(); at && (!next_status || *at < *next_status)) next_status = at;
    }
  }
  deliver(out);
}

}  // namespace pgas::detail
