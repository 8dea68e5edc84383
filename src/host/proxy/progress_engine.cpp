#include "host/proxy/progress_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

/// The size of the longest message. The transport and the format both limit it.
std::size_t message_bytes(const transport& network) {
  constexpr std::size_t least = 512;
  const std::size_t most = network.max_message();
  if (most < least)
    throw error(code::transport_failed,
                fmt::format("the transport {} sends messages of up to {} bytes, the proxy needs {}", network.name(),
                            most, least));
  return std::min(most, largest_message) / 8 * 8;
}

}  // namespace

progress_engine::progress_engine(const proxy_settings& settings, transport& network, memory_access& memory)
    : state_(settings, network, memory, message_bytes(network)), initiator_(state_), target_(state_) {}

bool progress_engine::progress() {
  bool busy = state_.network.progress();
  if (std::exchange(transport_wrote_, false)) state_.memory.admit_transport_writes();  // must precede publish()
  busy |= receive_from_self();
  complete_memory();
  for (const auto& each : rings_) busy |= serve(*each);
  flush();
  for (const auto& each : rings_) busy |= each->publish();
  for (const auto& each : retired_) busy |= each->publish();
  if (!failed_) std::erase_if(retired_, [](const auto& each) { return each->empty(); });
  return busy;
}

// ---- commands of this PE

bool progress_engine::serve(in_flight_commands& from) {
  if (failed_) return initiator_.drop_commands(from);
  std::string invalid;
  initiator_.send_signals(from);  // before commands are taken, because the deferred signals are older
  const bool busy = initiator_.take_commands(from, invalid) > 0;
  initiator_.request_acks(from);
  if (!invalid.empty()) fail(state_.settings.me, invalid);
  return busy;
}

void progress_engine::flush() {
  const std::size_t count = state_.active.size();
  for (std::size_t i = 0; i < count; ++i) {
    peer_state& each = *state_.active[i];
    each.active = false;
    if (!each.lost) initiator_.advance_bulk_ops(each);
  }
  initiator_.complete_reads();
  for (std::size_t i = 0; i < count; ++i) {
    peer_state& each = *state_.active[i];
    if (each.lost) continue;
    if (each.out.flush(each.in.completed())) ++state_.counts.acknowledgements;
    const bool more = std::exchange(each.new_chunks, 0) > 0 && !each.bulk_ops.empty();
    if (more || each.out.has_work(each.in.completed())) state_.touch(each);
  }
  state_.active.erase(state_.active.begin(), state_.active.begin() + static_cast<std::ptrdiff_t>(count));
}

void progress_engine::done(transport_token token) {
  if ((token & engine_state::chunk_token) == 0) return state_.pool.release(token);
  const std::uint64_t key = token & ~engine_state::chunk_token;
  const chunk_in_flight chunk = state_.chunks[key];
  state_.chunks.release(key);
  --chunk.peer->chunks;
  transport_wrote_ = transport_wrote_ || (chunk.op->fetches() && !state_.exposed.empty());
  state_.touch(*chunk.peer);
  chunk.op->owner->local_part_done(*chunk.op);
}

// ---- messages of other PEs

void progress_engine::message(int from, std::span<const std::byte> bytes) {
  if (from < 0 || from >= state_.settings.n)
    return fail(state_.settings.me, fmt::format("the transport reported a message of PE {}", from));
  peer_state& sender = state_.to(from);
  if (sender.lost) return;
  const std::string invalid = receive(sender, bytes);
  if (invalid.empty()) return;
  lost(from, fmt::format("its proxy sent {}: do all PEs run the same version, and was memory overwritten?", invalid));
}

/// Returns the reason why the message is refused; empty if it is not refused.
std::string progress_engine::receive(peer_state& from, std::span<const std::byte> bytes) {
  message_header head;
  if (bytes.size() < sizeof head) return fmt::format("a message of {} bytes", bytes.size());
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.magic != message_header::expected_magic || head.bytes != bytes.size() ||
      bytes.size() > state_.pool.capacity())
    return "a message with an invalid header";
  if (!from.out.acknowledge(head.acknowledged))
    return fmt::format("an acknowledgement of message {}, which was not sent to it", head.acknowledged);
  if (!from.in.in_window(head.ack_request))
    return fmt::format("a request to acknowledge message {}, which it could not send yet", head.ack_request);
  from.out.request_ack(head.ack_request);
  acknowledge(from, head.acknowledged);
  if (head.sequence == 0) return bytes.size() == sizeof head ? "" : "a message without a number";
  switch (from.in.classify(head.sequence)) {
    case reorder_buffer::arrival::in_order: return execute(from, bytes);
    case reorder_buffer::arrival::out_of_order: {
      const buffer_pool::key kept = state_.pool.take();
      std::memcpy(state_.pool.extend(kept, bytes.size()), bytes.data(), bytes.size());
      from.in.keep(head.sequence, kept);
      ++state_.counts.early_messages;
      return {};
    }
    case reorder_buffer::arrival::invalid: break;
  }
  return fmt::format("message {}, which it has sent before or could not send yet", head.sequence);
}

/// Completes the operations of acknowledged messages, because they have taken effect.
void progress_engine::acknowledge(peer_state& peer, std::uint64_t sequence) {
  while (!peer.pending_acks.empty() && peer.pending_acks.front().sequence <= sequence) {
    const peer_state::pending_ack first = peer.pending_acks.front();
    peer.pending_acks.pop();
    if (first.is_signal) {
      first.op->owner->complete(*first.op);
    } else {
      first.op->owner->part_done(*first.op);
    }
  }
  state_.touch(peer);  // the window of `peer` can have space again
}

/// Executes the message, and the messages after it that have already arrived.
std::string progress_engine::execute(peer_state& from, std::span<const std::byte> message) {
  if (std::find(executed_from_.begin(), executed_from_.end(), &from) == executed_from_.end())
    executed_from_.push_back(&from);
  // The message can be the signal for data that the sender's transport has written to this PE.
  if (!state_.exposed.empty()) state_.memory.admit_transport_writes();
  std::string invalid = target_.execute(from.pe, message.subspan(sizeof(message_header)));
  while (invalid.empty()) {
    const buffer_pool::key next = from.in.executed();
    if (next == buffer_pool::none) break;
    invalid = target_.execute(from.pe, state_.pool.contents(next).subspan(sizeof(message_header)));
    state_.pool.release(next);
  }
  return invalid;
}

bool progress_engine::receive_from_self() {
  grow_only_queue<buffer_pool::key>& mine = state_.output.to_self();
  const std::size_t count = mine.size();
  for (std::size_t i = 0; i < count; ++i) {
    const buffer_pool::key next = mine.front();
    mine.pop();
    message(state_.settings.me, state_.pool.contents(next));
    state_.pool.release(next);
  }
  return count > 0;
}

/// Makes the effects of this turn's messages visible. After this call the messages may be acknowledged.
void progress_engine::complete_memory() {
  if (target_.take_written() || !state_.replies.empty() || state_.memory.pending()) state_.memory.complete();
  for (peer_state* const each : executed_from_) {
    each->in.complete();
    state_.touch(*each);
  }
  executed_from_.clear();
  for (const pending_request& each : state_.replies) {
    peer_state& from = state_.to(each.pe);
    from.requested_bytes -= pending_request::cost(each.bytes);
    state_.touch(from);
    each.op->owner->part_done(*each.op);
  }
  state_.replies.clear();
  for (peer_state* const each : leaving_) each->out.abandon();
  leaving_.clear();
}

// ---- failures and the end

void progress_engine::lost(int pe, const std::string& why) {
  peer_state& gone = state_.to(pe);
  if (gone.lost) return;
  gone.lost = true;
  leaving_.push_back(&gone);
  fail(pe, why);
}

void progress_engine::fail(int pe, const std::string& what) {
  if (failed_) return;
  failed_ = true;
  for (peer_state& each : state_.peers) {
    each.bulk_ops.clear();
    each.waiting_lists = 0;
  }
  state_.settings.failed(pe, what);
}

bool progress_engine::waits_for_peers() const noexcept {
  const auto empty = [](const auto& each) { return each->empty(); };
  return !std::all_of(rings_.begin(), rings_.end(), empty) || state_.pool.in_use() > 0;
}

bool progress_engine::acks_due() const noexcept {
  const auto due = [](const peer_state* each) { return !each->lost && each->out.ack_due(each->in.completed()); };
  return std::any_of(state_.active.begin(), state_.active.end(), due);
}

bool progress_engine::idle() const noexcept {
  const auto drained = [](const peer_state& each) {
    return each.out.drained() && !each.out.has_work(each.in.completed());
  };
  const auto no_command = [](const auto& each) { return each->empty() && each->source()->next() == nullptr; };
  return !waits_for_peers() && retired_.empty() && state_.chunks.in_use() == 0 &&
         std::all_of(rings_.begin(), rings_.end(), no_command) &&
         std::all_of(state_.peers.begin(), state_.peers.end(), drained);
}

// ---- rings and memory

void progress_engine::add_ring(ring& source) {
  rings_.push_back(std::make_unique<in_flight_commands>(source, state_.settings.n, state_.settings.events));
}

bool progress_engine::has_silent_rings() const noexcept {
  return std::any_of(rings_.begin(), rings_.end(), [](const auto& each) { return !each->source()->producers_wake(); });
}

bool progress_engine::has_commands() const noexcept {
  return std::any_of(rings_.begin(), rings_.end(),
                     [](const auto& each) { return !each->blocked() && each->source()->next() != nullptr; });
}

void progress_engine::remove_ring(const ring& source) {
  for (auto each = rings_.begin(); each != rings_.end(); ++each) {
    if ((*each)->source() != &source) continue;
    (*each)->retire();
    retired_.push_back(std::move(*each));
    rings_.erase(each);
    return;
  }
}

std::vector<awaited_command> progress_engine::awaited(std::size_t most) const {
  std::vector<awaited_command> found;
  for (const auto& each : rings_) each->add_awaited(found, most);
  return found;
}

void progress_engine::add_peer_memory(int pe, std::uint64_t offset, std::size_t bytes, std::span<const std::byte> key) {
  state_.to(pe).memory.add({offset, bytes, state_.network.import_memory(pe, key)});
}

void progress_engine::remove_peer_memory(std::uint64_t offset) {
  for (peer_state& each : state_.peers)
    each.memory.remove(offset, [this](std::uint64_t imported) { state_.network.forget(imported); });
}

void progress_engine::add_exposed(const void* at, std::size_t bytes) {
  state_.exposed.add({reinterpret_cast<std::uintptr_t>(at), bytes, 0});
}

void progress_engine::remove_exposed(const void* at) noexcept {
  state_.exposed.remove(reinterpret_cast<std::uintptr_t>(at), [](std::uint64_t) {});
}

void progress_engine::finish() {
  failed_ = true;
  for (peer_state& each : state_.peers) {
    each.lost = true;
    each.memory.clear([this](std::uint64_t imported) { state_.network.forget(imported); });
  }
}

}  // namespace pgas::detail
