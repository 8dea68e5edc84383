#include "host/failure/tree_reader.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "common/thread.hpp"
#include "common/value_bytes.hpp"

namespace pgas::detail {

namespace {

/// The time limit for the last messages, enough for a round trip to every neighbour.
constexpr auto finish_timeout = std::chrono::milliseconds(500);

/// The number of heartbeats in the time after which a PE counts as lost. The number is more than one, because a
/// heartbeat can be late.
constexpr int heartbeats_in_timeout = 4;

/// Whether a message is dropped if the neighbour does not read.
constexpr bool may_be_lost(message_kind kind) { return kind == message_kind::question || kind == message_kind::answer; }

}  // namespace

tree_reader::tree_reader(event_loop& loop, tree_links& links, const peer_table& peers, world_failure& failures,
                         exchange_service& exchanges, question_service& questions,
                         std::chrono::milliseconds peer_timeout)
    : loop_(loop),
      links_(links),
      peers_(peers),
      failures_(failures),
      exchanges_(exchanges),
      questions_(questions),
      peer_timeout_(peer_timeout),
      several_hosts_(peers.several_hosts()) {
  for (auto& [pe, neighbour] : links_.all()) {
    unique_fd process = neighbour.remote ? unique_fd() : open_pidfd(neighbour.to->fd());
    if (process) processes_.push_back({pe, std::move(process)});  // the world works without these descriptors
  }
}

template <class Step>
bool tree_reader::guarded(Step&& step) noexcept {
  try {
    step();
    return true;
  } catch (const error& why) {
    failures_.set(why);
  } catch (const std::bad_alloc&) {
    failures_.set_out_of_memory();
  } catch (const std::exception& why) {
    try {
      failures_.set(error(code::system,
                          fmt::format("{}: its control thread failed, which is a fault of the library: {}",
                                      peers_.describe(peers_.me), why.what()),
                          peers_.me));
    } catch (const std::exception&) {
      failures_.set_out_of_memory();
    }
  }
  return false;
}

void tree_reader::start() {
  next_heartbeat_ = last_check_ = clock::now();
  for (auto& [pe, neighbour] : links_.all()) {
    tree_link* const from = &neighbour;
    from->last_seen = next_heartbeat_;
    loop_.watch(from->to->fd(), POLLIN, [this, from](short revents) {
      if ((revents & POLLOUT) != 0) links_.on_writable(*from);
      if ((revents & ~POLLOUT) == 0) return;
      from->last_seen = clock::now();
      if (!read_from(*from)) loop_.forget(from->to->fd());
    });
  }
  for (const watched_process& one : processes_)
    loop_.watch(one.fd.get(), POLLIN, [this, &one](short) { on_process_end(one); });
  questions_.start();
  thread_ = start_thread("pgas-control", [this] { run(); });
}

void tree_reader::stop() noexcept {
  if (!thread_.joinable()) return;
  failures_.close();
  stopping_ = true;
  loop_.wake();
  thread_.join();
}

void tree_reader::run() {
  while (guarded([this] { loop_.run_once(next_wake()); })) {
    if (stopping_.exchange(false)) finish_until_ = clock::now() + finish_timeout;
    guarded([this] { links_.flush(); });
    guarded([this] { exchanges_.send_statuses(); });
    guarded([this] { check_heartbeats(); });
    guarded([this] { exchanges_.check_leavers(); });
    questions_.check();
    if (finish_until_ && finished()) return;
  }
}

bool tree_reader::read_from(tree_link& from, bool died) {
  bool more = true;
  guarded([&] {
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

void tree_reader::handle(tree_link& from, received_packet packet) {
  if (from.to->is_forged())
    throw error(
        code::authentication,
        fmt::format("what came over the connection from {} was changed on the way, or sent by another process: "
                    "something between the two hosts interferes. Use a network that only the job's hosts are in",
                    peers_.describe(from.pe)),
        from.pe);
  control_header header;
  std::span<const std::byte> body = packet.bytes;
  const auto is_pe = [this](std::int32_t pe) { return pe >= 0 && pe < peers_.n(); };
  if (packet.what != received_packet::status::complete || !take_value(body, header) ||
      header.magic != control_header::expected_magic || header.bytes != body.size() || !is_pe(header.from) ||
      (header.to != all_pes && !is_pe(header.to)))
    throw error(code::bootstrap_protocol, fmt::format("{} sent a malformed message", peers_.describe(from.pe)),
                from.pe);
  if (header.to != all_pes && header.to != peers_.me) {
    // The header also counts descriptors that were lost on this PE, so that the receiver detects the loss.
    outgoing_message passed{
        header, std::make_shared<parcel>(blob(body.begin(), body.end()), std::vector<int>(), std::move(packet.fds)),
        true};
    if (may_be_lost(header.kind)) return links_.offer(passed);
    return exchanges_.send(passed);
  }
  std::optional<arrived_message> message = assembler_.add(header, body, std::move(packet.fds), packet.descriptors_lost);
  if (message) handle(std::move(*message), from.pe);
}

void tree_reader::handle(arrived_message message, int from) {
  const control_header& header = message.header;
  switch (header.kind) {
    case message_kind::up:
    case message_kind::down:
    case message_kind::status:
    case message_kind::abandon: return exchanges_.receive(std::move(message));
    case message_kind::failure: return failures_.set(decode_error(message.bytes), log_level::info);
    case message_kind::heartbeat: ++heartbeats_received_; return;
    case message_kind::question: {
      outgoing_message same = message_of(header.kind, header.from);
      same.header.group = header.group;
      same.header.sequence = header.sequence;
      links_.offer_to_neighbours(same, from);
      return questions_.on_question(header.from, header.sequence, static_cast<question>(header.group));
    }
    case message_kind::answer: return questions_.on_answer(header.sequence, message.bytes);
    case message_kind::departure:
      if (tree_link* const neighbour = links_.find(header.from)) neighbour->departed = true;
      return;
  }
  throw error(code::bootstrap_protocol,
              fmt::format("{} sent a message of an unknown kind", peers_.describe(header.from)), header.from);
}

void tree_reader::on_process_end(const watched_process& one) {
  tree_link& neighbour = *links_.find(one.pe);
  // A forked child of the process can keep the socket open, but all messages of the process itself have arrived.
  if (!neighbour.ended && read_from(neighbour, true)) return;
  loop_.forget(neighbour.to->fd());
  loop_.forget(one.fd.get());
}

void tree_reader::on_disconnect(tree_link& from) {
  // Ends the sending direction. The peer can be waiting for the end of this stream. The end of the stream tells the
  // peer that this PE has received all messages.
  if (!from.finished.exchange(true)) from.to->finish();
  from.ended = true;
  questions_.on_end(from.pe);
  if (!from.departed && !exchanges_.all_departed())
    failures_.set(error(code::peer_lost, peers_.describe(from.pe) + " ended without leaving the world", from.pe));
}

void tree_reader::on_launcher_report(int pe, std::string how) {
  if (pe < 0 || pe >= peers_.n() || pe == peers_.me) return;
  // The reader's thread handles the report, because it is possible that the departure message of the PE has already
  // arrived.
  loop_.post([this, pe, how = std::move(how)] {
    const tree_link* const neighbour = links_.find(pe);
    if (neighbour != nullptr && neighbour->departed) return;
    if (exchanges_.reached() == exchange_service::stage::leaving) return;  // perhaps the PE has left first
    failures_.set(error(code::peer_lost,
                        fmt::format("{} has failed, as the launcher reports: {}", peers_.describe(pe), how), pe));
  });
}

void tree_reader::check_heartbeats() {
  if (!several_hosts_) return;
  const clock::time_point now = clock::now();
  // If this process was stopped, it does not know for how long its peers were silent.
  if (now - last_check_ > peer_timeout_ / 2)
    for (auto& [pe, one] : links_.all()) one.last_seen = now;
  last_check_ = now;
  const bool send_now = now >= next_heartbeat_;
  if (!send_now && now < next_silence_) return;
  if (send_now) next_heartbeat_ = now + peer_timeout_ / heartbeats_in_timeout;
  next_silence_ = next_heartbeat_;
  for (auto& [pe, one] : links_.all()) {
    if (!one.remote || one.ended) continue;
    // If packets wait in the queue, the peer has unread messages, which replace the heartbeat.
    if (send_now && one.queue.waiting() == 0) {
      outgoing_message beat = message_of(message_kind::heartbeat, peers_.me, pe);
      links_.send(beat);
      ++heartbeats_sent_;
    }
    const clock::time_point silent_at = one.last_seen.load() + peer_timeout_;
    if (now < silent_at) {
      next_silence_ = std::min(next_silence_, silent_at);
      continue;
    }
    if (one.departed || exchanges_.all_departed()) continue;
    one.ended = true;
    failures_.set(
        error(code::peer_lost,
              fmt::format("{} has not been heard of for {} s: its host or the network is down, or the process is "
                          "stopped; PGAS_HEARTBEAT_TIMEOUT sets the limit",
                          peers_.describe(pe), std::chrono::duration<double>(peer_timeout_).count()),
              pe));
  }
}

bool tree_reader::finished() {
  // Closing a TCP connection with unread data resets the connection, and a reset can discard the last messages to the
  // peer. So this side ends its sending direction, and reads until the peer has ended its sending direction.
  if (clock::now() >= *finish_until_) return true;
  if (!links_.finish()) return false;
  return std::ranges::none_of(links_.all(), [](const auto& each) { return each.second.remote && !each.second.ended; });
}

control_statistics tree_reader::statistics() const {
  control_statistics found{heartbeats_sent_, heartbeats_received_, {}};
  found.silence.resize(static_cast<std::size_t>(peers_.n()));
  const clock::time_point now = clock::now();
  for (const auto& [pe, one] : links_.all())
    if (one.remote)
      found.silence[static_cast<std::size_t>(pe)] = std::chrono::duration_cast<std::chrono::milliseconds>(
          std::max(now - one.last_seen.load(), clock::duration::zero()));
  return found;
}

std::optional<clock::time_point> tree_reader::next_wake() const {
  std::optional<clock::time_point> next = questions_.next_wake();
  const auto not_after = [&next](clock::time_point at) { next = next ? std::min(*next, at) : at; };
  if (several_hosts_) not_after(std::min(next_heartbeat_, next_silence_));
  if (finish_until_) not_after(*finish_until_);
  if (const auto at = links_.next_flush()) not_after(*at);
  if (const auto at = exchanges_.next_wake()) not_after(*at);
  return next;
}

}  // namespace pgas::detail
