#include "host/proxy/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

/// Bytes of messages, as far as the transport has them.
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

proxy_engine::proxy_engine(const proxy_settings& settings, transport& network, proxy_memory& memory)
    : parts_{settings,
             network,
             memory,
             payload_limit(message_bytes(network)),
             std::min(settings.eager_bytes, payload_limit(message_bytes(network))),
             message_pool(message_bytes(network), memory.buffers())},
      issuer_(parts_),
      target_(settings, memory, *this, parts_.payload) {
  for (int pe = 0; pe < settings.n; ++pe)
    parts_.channels.emplace_back(pe, parts_.pool, static_cast<message_sender&>(*this));
}

bool proxy_engine::turn() {
  bool busy = parts_.network.progress();
  if (std::exchange(fetched_, false)) parts_.memory.admit_transport_writes();  // before settle() tells of it
  busy |= deliver_to_self();
  complete_memory();
  for (const auto& each : flights_) busy |= serve(*each);
  flush();
  for (const auto& each : flights_) busy |= each->settle();
  for (const auto& each : retired_) busy |= each->settle();
  if (!failed_) std::erase_if(retired_, [](const auto& each) { return each->empty(); });
  return busy;
}

// ---- what others send

void proxy_engine::message(int from, std::span<const std::byte> bytes) {
  if (from < 0 || from >= parts_.settings.n)
    return fail(parts_.settings.me, fmt::format("the transport told of a message of PE {}", from));
  peer_state& sender = parts_.to(from);
  if (sender.lost) return;
  const std::string wrong = deliver(sender, bytes);
  if (wrong.empty()) return;
  lost(from, fmt::format("its proxy sent {}: do all PEs run the same version, and was memory overwritten?", wrong));
}

std::string proxy_engine::deliver(peer_state& from, std::span<const std::byte> bytes) {
  message_header head;
  if (bytes.size() < sizeof head) return fmt::format("a message of {} bytes", bytes.size());
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.magic != message_header::expected_magic || head.bytes != bytes.size() ||
      bytes.size() > parts_.pool.capacity())
    return "a message whose header is not one";
  if (!from.out.acknowledge(head.acknowledged))
    return fmt::format("an acknowledgement of message {}, which it was not sent", head.acknowledged);
  if (!from.in.may_be_sent(head.awaited))
    return fmt::format("a wait for the acknowledgement of message {}, which it could not send yet", head.awaited);
  from.out.hurry(head.awaited);
  take_effect(from, head.acknowledged);
  if (head.sequence == 0) return bytes.size() == sizeof head ? "" : "a message without a number";
  switch (from.in.judge(head.sequence)) {
    case reorder_buffer::verdict::due: return execute_operation(from, bytes);
    case reorder_buffer::verdict::early: {
      const message_pool::number kept = parts_.pool.take();
      std::memcpy(parts_.pool.extend(kept, bytes.size()), bytes.data(), bytes.size());
      from.in.keep(head.sequence, kept);
      ++parts_.counts.early_messages;
      return {};
    }
    case reorder_buffer::verdict::impossible: break;
  }
  return fmt::format("message {}, which it has sent before or could not send yet", head.sequence);
}

/// The message that is due, and those behind it that came before it.
std::string proxy_engine::execute_operation(peer_state& from, std::span<const std::byte> message) {
  if (std::find(heard_.begin(), heard_.end(), &from) == heard_.end()) heard_.push_back(&from);
  // Some of it may say that something has been put here.
  if (!parts_.exposed.empty()) parts_.memory.admit_transport_writes();
  std::string wrong = target_.execute_operation(from.pe, message.subspan(sizeof(message_header)));
  while (wrong.empty()) {
    const message_pool::number next = from.in.handled();
    if (next == message_pool::none) break;
    wrong = target_.execute_operation(from.pe, parts_.pool.contents(next).subspan(sizeof(message_header)));
    parts_.pool.release(next);
  }
  return wrong;
}

bool proxy_engine::deliver_to_self() {
  const std::size_t count = to_self_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const message_pool::number next = to_self_.front();
    to_self_.pop();
    message(parts_.settings.me, parts_.pool.contents(next));
    parts_.pool.release(next);
  }
  return count > 0;
}

void proxy_engine::take_effect(peer_state& of, std::uint64_t acknowledged) {
  while (!of.effects.empty() && of.effects.front().sequence <= acknowledged) {
    const peer_state::effect what = of.effects.front();
    of.effects.pop();
    if (what.is_signal) {
      what.op->ring->complete(*what.op);
    } else {
      what.op->ring->part_done(*what.op);
    }
  }
  parts_.touch(of);  // the window may have opened
}

std::byte* proxy_engine::reply(int pe, std::uint64_t request, std::uint32_t bytes) {
  peer_state& to = parts_.to(pe);
  to.out.reserve_reply(record_overhead + padded(bytes));
  parts_.touch(to);
  return to.out.append({record_kind::reply, {}, {}, 0, bytes, request}, bytes);
}

bool proxy_engine::replied(int pe, std::uint64_t request, std::span<const std::byte> bytes) {
  const pending_requests::request* const found = parts_.awaited.find(request, pe, bytes.size());
  if (found == nullptr) return false;
  const pending_requests::request what = *found;
  parts_.awaited.remove(request);
  if (what.local == nullptr) {
    std::fill(std::begin(what.op->what.value), std::end(what.op->what.value), 0);
    std::memcpy(what.op->what.value, bytes.data(), std::min(bytes.size(), sizeof what.op->what.value));
  } else if (what.op->ring->source() != nullptr) {  // else who asked is gone, perhaps with the memory
    parts_.memory.write(what.local, bytes.data(), what.blocks);
  }
  arrived_.push_back({what.op, &parts_.to(pe), what.bytes});
  return true;
}

void proxy_engine::complete_memory() {
  if (target_.has_written() || !arrived_.empty() || parts_.memory.pending()) parts_.memory.complete();
  for (peer_state* const each : heard_) {
    each->in.complete();
    parts_.touch(*each);
  }
  heard_.clear();
  for (const arrived_reply& each : arrived_) {
    each.from->awaited_bytes -= initiator::counted_as(each.bytes);
    parts_.touch(*each.from);
    each.op->ring->part_done(*each.op);
  }
  arrived_.clear();
  for (peer_state* const each : leaving_) each->out.abandon();
  leaving_.clear();
}

// ---- what this PE asks for

bool proxy_engine::serve(in_flight_commands& from) {
  std::string wrong;
  bool busy = false;
  if (failed_) {
    busy = issuer_.drop_commands(from);
  } else {
    issuer_.send_signals(from);  // they are older than what comes next
    busy = issuer_.take_commands(from, wrong) > 0;
    issuer_.request_acks(from);
  }
  if (!wrong.empty()) fail(parts_.settings.me, wrong);
  return busy;
}

void proxy_engine::flush() {
  const std::size_t count = parts_.active.size();
  for (std::size_t i = 0; i < count; ++i) {
    peer_state& each = *parts_.active[i];
    each.active = false;
    if (!each.lost) issuer_.advance_jobs(each);
  }
  complete_reads();
  for (std::size_t i = 0; i < count; ++i) {
    peer_state& each = *parts_.active[i];
    if (each.lost) continue;
    if (each.out.flush(each.in.completed())) ++parts_.counts.acknowledgements;
    const bool more = std::exchange(each.fresh_pieces, 0) > 0 && !each.jobs.empty();
    if (more || each.out.has_work(each.in.completed())) parts_.touch(each);
  }
  parts_.active.erase(parts_.active.begin(), parts_.active.begin() + static_cast<std::ptrdiff_t>(count));
}

/// The sources of puts have arrived in messages, which may go, and may be reused.
void proxy_engine::complete_reads() {
  if (parts_.memory.pending()) parts_.memory.complete();
  for (proxy_op* const each : parts_.reads) each->ring->piece_done(*each);
  parts_.reads.clear();
}

bool proxy_engine::collects() {
  constexpr std::size_t enough = 64;  // beyond that waiting costs little by comparison
  return parts_.memory.pending() && parts_.reads.size() < enough;
}

void proxy_engine::send(int pe, message_pool::number message) {
  complete_reads();  // and whatever else messages wait for
  const std::span<const std::byte> bytes = parts_.pool.contents(message);
  if (bytes.size() > sizeof(message_header)) {
    ++parts_.counts.messages;
    parts_.counts.message_bytes += bytes.size();
  }
  if (pe == parts_.settings.me) {
    to_self_.push(message);
  } else {
    parts_.network.send(pe, bytes, message);
  }
}

void proxy_engine::done(transport_token token) {
  if ((token & proxy_state::piece_token) == 0) return parts_.pool.release(static_cast<message_pool::number>(token));
  const pieces_under_way::piece piece =
      parts_.pieces.remove(static_cast<std::size_t>(token & ~proxy_state::piece_token));
  --piece.with->pieces;
  fetched_ = fetched_ || (piece.op->fetches() && !parts_.exposed.empty());
  parts_.touch(*piece.with);
  piece.op->ring->piece_done(*piece.op);
}

// ---- the end of things

void proxy_engine::lost(int pe, const std::string& why) {
  peer_state& gone = parts_.to(pe);
  if (gone.lost) return;
  gone.lost = true;
  leaving_.push_back(&gone);
  fail(pe, why);
}

void proxy_engine::fail(int pe, const std::string& what) {
  if (failed_) return;
  failed_ = true;
  for (peer_state& each : parts_.channels) each.jobs.clear();
  parts_.settings.failed(pe, what);
}

bool proxy_engine::waits_for_others() const noexcept {
  const auto has_nothing = [](const auto& each) { return each->empty(); };
  return !std::all_of(flights_.begin(), flights_.end(), has_nothing) || parts_.pool.in_use() > 0;
}

bool proxy_engine::owes_acknowledgements() const noexcept {
  const auto owes = [](const peer_state* each) { return !each->lost && each->out.owes(each->in.completed()); };
  return std::any_of(parts_.active.begin(), parts_.active.end(), owes);
}

bool proxy_engine::idle() const noexcept {
  const auto quiet = [](const peer_state& each) { return each.out.quiet() && !each.out.has_work(each.in.completed()); };
  const auto no_command = [](const auto& each) { return each->empty() && each->source()->next() == nullptr; };
  return !waits_for_others() && retired_.empty() && parts_.pieces.none() &&
         std::all_of(flights_.begin(), flights_.end(), no_command) &&
         std::all_of(parts_.channels.begin(), parts_.channels.end(), quiet);
}

void proxy_engine::add_ring(ring& source) {
  flights_.push_back(std::make_unique<in_flight_commands>(source, parts_.settings.n));
}

void proxy_engine::remove_ring(const ring& source) {
  for (auto each = flights_.begin(); each != flights_.end(); ++each) {
    if ((*each)->source() != &source) continue;
    (*each)->retire();
    retired_.push_back(std::move(*each));
    flights_.erase(each);
    return;
  }
}

void proxy_engine::add_peer_memory(int pe, std::uint64_t offset, std::size_t bytes, std::span<const std::byte> key) {
  parts_.to(pe).memory.add({offset, bytes, parts_.network.import_memory(pe, key)});
}

void proxy_engine::add_exposed(const void* at, std::size_t bytes) {
  parts_.exposed.add({reinterpret_cast<std::uintptr_t>(at), bytes, 0});
}

void proxy_engine::remove_exposed(const void* at) noexcept {
  parts_.exposed.remove(reinterpret_cast<std::uintptr_t>(at), [](std::uint64_t) {});
}

void proxy_engine::remove_peer_memory(std::uint64_t offset) {
  for (peer_state& each : parts_.channels)
    each.memory.remove(offset, [this](std::uint64_t imported) { parts_.network.forget(imported); });
}

void proxy_engine::finish() {
  failed_ = true;
  for (peer_state& each : parts_.channels) {
    each.lost = true;
    each.memory.clear([this](std::uint64_t imported) { parts_.network.forget(imported); });
  }
}

proxy_statistics proxy_engine::statistics() const {
  proxy_statistics counts = parts_.counts;
  counts.records = target_.records();
  return counts;
}

}  // namespace pgas::detail
