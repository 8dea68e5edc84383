#include "host/proxy/initiator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace pgas::detail {

namespace {

constexpr std::size_t commands_a_turn = 256;

[[nodiscard]] bool is_strided(const command& what) {
  return what.kind == command_kind::put_strided || what.kind == command_kind::get_strided;
}
[[nodiscard]] std::uint64_t block_of(const command& what) { return is_strided(what) ? what.block : what.bytes; }
[[nodiscard]] std::uint64_t blocks_of(const command& what) { return is_strided(what) ? what.bytes / what.block : 1; }
[[nodiscard]] std::int64_t local_step(const command& what) {
  return is_strided(what) ? static_cast<std::int64_t>(what.value[0]) : 0;
}
[[nodiscard]] std::int64_t remote_step(const command& what) {
  return is_strided(what) ? static_cast<std::int64_t>(what.value[1]) : 0;
}

/// Where the next part of an operation lies on both sides.
struct place {
  std::byte* local;
  std::uint64_t offset;

  explicit place(const proxy_op& op) {
    const auto block = static_cast<std::int64_t>(op.block);
    local =
        reinterpret_cast<std::byte*>(op.what.local) + block * local_step(op.what) + static_cast<std::ptrdiff_t>(op.at);
    offset = op.what.offset + static_cast<std::uint64_t>(block * remote_step(op.what)) + op.at;
  }
};

/// What the command moves of its caller's: atomic operations, and signals alone, move nothing.
[[nodiscard]] std::uint64_t bytes_of(const command& what) {
  const bool has_data = what.kind != command_kind::signal && what.kind != command_kind::atomic;
  return has_data ? what.bytes : 0;
}

/// The most bytes that the command has in itself, and where; none for those that say where they are.
struct carried_bytes {
  const void* at;
  std::size_t room;
};
[[nodiscard]] carried_bytes carried_by(const command& what) {
  switch (what.kind) {
    case command_kind::put_value:
    case command_kind::get_value: return {what.value, sizeof what.value};
    case command_kind::put_value_signal: return {&what.local, sizeof what.local};
    default: return {nullptr, 0};
  }
}

/// The part of `bytes` at `offset` that is not longer than `most` and does not end inside an aligned word of `word`
/// bytes.
[[nodiscard]] std::size_t cut(std::uint64_t offset, std::uint64_t bytes, std::size_t most, std::size_t word) {
  if (bytes <= most) return static_cast<std::size_t>(bytes);
  const std::size_t beyond = static_cast<std::size_t>((offset + most) % word);
  return most > beyond ? most - beyond : most;
}

void advance_by(proxy_op& op, std::size_t bytes) {
  op.at += bytes;
  if (op.at < block_of(op.what)) return;
  op.at = 0;
  ++op.block;
}

}  // namespace

std::string initiator::fault(const command& what, const in_flight_commands& from) const {
  if (what.kind > command_kind::quiet)
    return fmt::format("is of the unknown kind {}", static_cast<unsigned>(what.kind));
  const int lowest = what.kind == command_kind::quiet ? -1 : 0;
  if (what.pe < lowest || what.pe >= parts_.settings.n)
    return fmt::format("is for PE {}, but there are PEs 0 to {} only", what.pe, parts_.settings.n - 1);
  if (what.answer != no_answer && what.answer >> from.source()->view().log2_answers != 0)
    return fmt::format("wants answer cell {}, which is none", what.answer);
  if (is_strided(what) && what.bytes != 0 && (what.block == 0 || what.bytes % what.block != 0))
    return fmt::format("moves {} bytes in blocks of {}", what.bytes, what.block);
  if (const carried_bytes carried = carried_by(what); carried.at != nullptr && what.bytes > carried.room)
    return fmt::format("has a value of {} bytes", what.bytes);
  return {};
}

std::size_t initiator::take_commands(in_flight_commands& from, std::string& wrong) {
  ring& source = *from.source();
  std::size_t count = 0;
  for (; count < commands_a_turn && !from.full(); ++count) {
    const command* const what = source.next();
    if (what == nullptr) break;
    if (std::string because = fault(*what, from); !because.empty()) {
      wrong = fmt::format("command {} of a ring {}: was the ring's memory overwritten?", source.taken(), because);
      break;
    }
    if (!start(from, *what)) break;
    source.take();
  }
  parts_.counts.commands += count;
  return count;
}

void initiator::request_acks(in_flight_commands& from) {
  if (!from.take_wait()) return;
  for (int pe = 0; pe < parts_.settings.n; ++pe) {
    if (from.has_under_way(pe)) parts_.await_effects(parts_.to(pe));
  }
}

bool initiator::drop_commands(in_flight_commands& from) {
  ring& source = *from.source();
  const std::uint64_t before = source.taken();
  while (source.taken() - before < commands_a_turn && source.next() != nullptr) source.take();
  return source.taken() != before;
}

bool initiator::start(in_flight_commands& from, const command& what) {
  if (what.kind == command_kind::quiet) {
    from.quiet(from.begin(what, false));
    if (what.pe >= 0) parts_.await_effects(parts_.to(what.pe));
    return true;
  }
  if (what.kind == command_kind::fence) {
    from.fence(what.pe);
    from.complete(from.begin(what, false));
    return true;
  }
  const bool large = bytes_of(what) > parts_.eager && carried_by(what).at == nullptr;
  if (!from.is_ordered(what.pe, large)) {
    parts_.await_effects(parts_.to(what.pe));
    return false;
  }
  if (large) {
    start_job(from, what);
    return true;
  }
  switch (what.kind) {
    case command_kind::atomic: return start_atomic(from, what);
    case command_kind::put_signal:
    case command_kind::put_value_signal:
    case command_kind::signal: return start_signal(from, what);
    default: return start_data(from, what);
  }
}

bool initiator::start_data(in_flight_commands& from, const command& what) {
  const auto total = static_cast<std::size_t>(bytes_of(what));
  peer_state& to = parts_.to(what.pe);
  const bool asks =
      what.kind == command_kind::get_value || what.kind == command_kind::get || what.kind == command_kind::get_strided;
  if (total > 0) {
    if (asks && !may_ask(to, total)) return false;
    if (!to.out.reserve(record_overhead + (asks ? 0 : padded(total)))) return false;
  }
  proxy_op& op = from.begin(what, asks && what.kind != command_kind::get_value);
  if (total > 0) static_cast<void>(issue_record(to, op));
  from.all_issued(op);
  return true;
}

void initiator::start_job(in_flight_commands& from, const command& what) {
  peer_state& to = parts_.to(what.pe);
  proxy_op& op = from.begin(what, true);
  if (op.has_signal()) from.defer_signal(op);
  to.jobs.push(&op);
  if (to.jobs.size() == 1) advance_jobs(to);
  parts_.touch(to);
}

bool initiator::start_signal(in_flight_commands& from, const command& what) {
  peer_state& to = parts_.to(what.pe);
  const auto bytes = static_cast<std::size_t>(bytes_of(what));
  if (!to.out.reserve(record_overhead + padded(bytes))) return false;
  const bool at_once = from.signal_may_go(what.pe);
  proxy_op& op = from.begin(what, false);
  if (at_once) {
    const record_header head{record_kind::put_signal,           what.update, datatype::u64, 0,
                             static_cast<std::uint32_t>(bytes), what.offset};
    std::byte* const payload = to.out.append(head, bytes, signal_part{what.value[1], what.value[0]});
    if (bytes > 0) {
      fill(op, payload, reinterpret_cast<const std::byte*>(what.local), {bytes});
      count_effect(to, op, false);
    } else {
      op.signal = proxy_op::signal_state::sent;  // signals are no data: other signals don't wait for them
      count_effect(to, op, true);
    }
  } else {
    if (bytes > 0) static_cast<void>(issue_record(to, op));
    from.defer_signal(op);
  }
  from.all_issued(op);
  return true;
}

bool initiator::start_atomic(in_flight_commands& from, const command& what) {
  peer_state& to = parts_.to(what.pe);
  const bool asks = what.answer != no_answer;
  if ((asks && !may_ask(to, sizeof(std::uint64_t))) || !to.out.reserve(record_overhead)) return false;
  proxy_op& op = from.begin(what, false);
  atomic_part atomic{0, what.value[0], what.value[1]};
  if (asks) {
    atomic.request = ask(to, {&op, what.pe, nullptr, {}, sizeof(std::uint64_t)});
  }
  const std::uint8_t fenced = from.take_fence(what.pe) ? 1 : 0;
  static_cast<void>(to.out.append({record_kind::atomic, what.update, what.as, fenced, 0, what.offset}, 0, atomic));
  if (!asks) count_effect(to, op, false);
  parts_.touch(to);
  from.all_issued(op);
  return true;
}

void initiator::send_signals(in_flight_commands& from) {
  while (proxy_op* const op = from.ready_signal()) {
    peer_state& to = parts_.to(op->what.pe);
    if (!to.out.reserve(record_overhead)) return;
    const record_header head{record_kind::put_signal, op->what.update, datatype::u64, 0, 0, 0};
    static_cast<void>(to.out.append(head, 0, signal_part{op->what.value[1], op->what.value[0]}));
    count_effect(to, *op, true);
    from.signal_sent();
  }
}

void initiator::advance_jobs(peer_state& to) {
  while (!to.jobs.empty()) {
    proxy_op& op = *to.jobs.front();
    if (!advance(to, op)) return;
    to.jobs.pop();
    op.ring->all_issued(op);
  }
}

/// Issues what may be; whether that was all.
bool initiator::advance(peer_state& to, proxy_op& op) {
  const std::uint64_t blocks = blocks_of(op.what);
  while (op.block < blocks) {
    const place next(op);
    const std::uint64_t block = block_of(op.what);
    const std::uint64_t left = block - op.at;
    const peer_memory::segment* there = block > parts_.eager ? to.memory.find(next.offset) : nullptr;
    const bool direct = there != nullptr && transport_may_use(next.local, static_cast<std::size_t>(left));
    if (direct ? !issue_piece(to, op, *there) : !advance_by_record(to, op)) return false;
  }
  return true;
}

/// What is left waits for acknowledgements, and so may whatever comes behind it.
bool initiator::advance_by_record(peer_state& to, proxy_op& op) {
  const bool issued = to.out.under_way() < window_of_jobs && issue_record(to, op);
  to.out.await(to.out.sequence());
  return issued;
}

bool initiator::issue_piece(peer_state& to, proxy_op& op, const peer_memory::segment& there) {
  // A transport may complete all that was begun in one turn together: half of it at a time, so that the other half
  // keeps the way busy meanwhile.
  const std::size_t most = parts_.settings.pieces_under_way;
  if (to.pieces >= most || to.fresh_pieces >= (most + 1) / 2) return false;
  constexpr std::size_t cache_line = 64;
  const place next(op);
  const std::uint64_t behind = next.offset - there.offset;
  const std::size_t bytes = cut(next.offset, std::min(block_of(op.what) - op.at, there.bytes - behind),
                                parts_.settings.piece_bytes, cache_line);
  const transport_token token = proxy_state::piece_token | parts_.pieces.add({&op, &to});
  ++op.parts;
  ++op.pieces;
  ++to.pieces;
  ++to.fresh_pieces;
  ++parts_.counts.pieces;
  parts_.counts.piece_bytes += bytes;
  advance_by(op, bytes);
  if (op.fetches())
    parts_.network.get(there.imported, behind, next.local, bytes, token);
  else
    parts_.network.put(there.imported, behind, next.local, bytes, token);
  return true;
}

/// As many blocks as one record takes, or a part of one.
bool initiator::issue_record(peer_state& to, proxy_op& op) {
  const command& what = op.what;
  const place next(op);
  const std::uint64_t block = block_of(what);
  block_list local{static_cast<std::size_t>(block), 1, local_step(what)};
  if (op.at == 0 && block <= parts_.payload) {
    local.count = static_cast<std::size_t>(std::min(blocks_of(what) - op.block, parts_.payload / block));
  } else {
    constexpr std::size_t word = 8;
    local.bytes = cut(next.offset, block - op.at, parts_.payload, word);
  }
  const std::size_t total = local.bytes * local.count;
  const bool one = local.count == 1;
  const strided_part blocks{local.count, remote_step(what)};
  record_header head{record_kind::put, {}, {}, 0, static_cast<std::uint32_t>(local.bytes), next.offset};
  if (op.fetches() || what.kind == command_kind::get_value) {
    if (!may_ask(to, total) || !to.out.reserve(record_overhead)) return false;
    std::byte* const to_memory = op.fetches() ? next.local : nullptr;
    const request_part request{ask(to, {&op, what.pe, to_memory, local, total})};
    head.kind = one ? record_kind::get : record_kind::get_strided;
    if (one)
      static_cast<void>(to.out.append(head, 0, request));
    else
      static_cast<void>(to.out.append(head, 0, request, blocks));
  } else {
    if (!to.out.reserve(record_overhead + padded(total))) return false;
    head.kind = one ? record_kind::put : record_kind::put_strided;
    std::byte* const payload = one ? to.out.append(head, total) : to.out.append(head, total, blocks);
    fill(op, payload, next.local, local);
    count_effect(to, op, false);
  }
  parts_.touch(to);
  if (one) {
    advance_by(op, local.bytes);
  } else {
    op.block += local.count;
  }
  return true;
}

std::size_t initiator::counted_as(std::size_t bytes) noexcept {
  constexpr std::size_t least = 64;  // few bytes cost as much as these
  return std::max(bytes, least);
}

bool initiator::may_ask(const peer_state& of, std::size_t bytes) const noexcept {
  return of.awaited_bytes == 0 || of.awaited_bytes + counted_as(bytes) <= parts_.settings.reply_bytes;
}

std::uint64_t initiator::ask(peer_state& of, const pending_requests::request& what) {
  of.awaited_bytes += counted_as(what.bytes);
  ++what.op->parts;
  return parts_.awaited.add(what);
}

/// @param local where the command does not carry the bytes
void initiator::fill(proxy_op& op, std::byte* payload, const std::byte* local, const block_list& blocks) {
  if (const void* const carried = carried_by(op.what).at) {
    std::memcpy(payload, carried, blocks.bytes);
    return;
  }
  parts_.memory.read(payload, local, blocks);
  if (!parts_.memory.pending()) return;
  ++op.parts;
  ++op.pieces;
  parts_.reads.push_back(&op);
}

void initiator::count_effect(peer_state& to, proxy_op& op, bool is_signal) {
  if (!is_signal) ++op.parts;
  to.effects.push({to.out.sequence(), &op, is_signal});
  parts_.touch(to);
}

bool initiator::transport_may_use(const std::byte* local, std::size_t bytes) const noexcept {
  if (parts_.memory.host_accessible()) return true;
  const auto address = reinterpret_cast<std::uintptr_t>(local);
  const peer_memory::segment* const mine = parts_.exposed.find(address);
  return mine != nullptr && bytes <= mine->bytes - (address - mine->offset);
}

}  // namespace pgas::detail
