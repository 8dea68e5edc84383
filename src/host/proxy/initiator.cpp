#include "host/proxy/initiator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace pgas::detail {

namespace {

constexpr std::size_t commands_per_turn = 256;
constexpr std::size_t most_waiting_lists = 16;  // the limit for one PE, because arrays of lists need memory

[[nodiscard]] bool is_strided(const command& cmd) {
  return cmd.kind == command_kind::put_strided || cmd.kind == command_kind::get_strided;
}
[[nodiscard]] bool is_list(const command& cmd) {
  return cmd.kind == command_kind::put_list || cmd.kind == command_kind::get_list;
}
/// The bytes of the block in progress.
[[nodiscard]] std::uint64_t block_of(const proxy_op& op) {
  if (is_list(op.cmd)) return op.list[op.block].bytes;
  return is_strided(op.cmd) ? op.cmd.block : op.cmd.bytes;
}
[[nodiscard]] std::uint64_t blocks_of(const proxy_op& op) {
  if (is_list(op.cmd)) return op.list.size();
  return is_strided(op.cmd) ? op.cmd.bytes / op.cmd.block : 1;
}
[[nodiscard]] std::int64_t local_step(const command& cmd) {
  return is_strided(cmd) ? static_cast<std::int64_t>(cmd.value[0]) : 0;
}
[[nodiscard]] std::int64_t remote_step(const command& cmd) {
  return is_strided(cmd) ? static_cast<std::int64_t>(cmd.value[1]) : 0;
}

/// The addresses of the next part of an operation: in local memory, and as an offset on the other PE.
struct place {
  std::byte* local;
  std::uint64_t offset;

  explicit place(const proxy_op& op) {
    if (is_list(op.cmd)) {
      const listed_block& block = op.list[op.block];
      local = reinterpret_cast<std::byte*>(block.local) + op.at;
      offset = block.offset + op.at;
      return;
    }
    const auto block = static_cast<std::int64_t>(op.block);
    local =
        reinterpret_cast<std::byte*>(op.cmd.local) + block * local_step(op.cmd) + static_cast<std::ptrdiff_t>(op.at);
    offset = op.cmd.offset + static_cast<std::uint64_t>(block * remote_step(op.cmd)) + op.at;
  }
};

/// The data inside a command and its largest size in bytes. Null if the command has an address instead.
struct inline_value {
  const void* at;
  std::size_t room;
};
[[nodiscard]] inline_value inline_value_of(const command& cmd) {
  switch (cmd.kind) {
    case command_kind::put_value:
    case command_kind::get_value: return {cmd.value, sizeof cmd.value};
    case command_kind::put_value_signal: return {&cmd.local, sizeof cmd.local};
    default: return {nullptr, 0};
  }
}

/// Returns the size of the largest part of `bytes` at `offset` that has at most `most` bytes and does not end inside an
/// aligned word of `word` bytes.
[[nodiscard]] std::size_t chunk_size(std::uint64_t offset, std::uint64_t bytes, std::size_t most, std::size_t word) {
  if (bytes <= most) return static_cast<std::size_t>(bytes);
  const std::size_t excess = static_cast<std::size_t>((offset + most) % word);
  return most > excess ? most - excess : most;
}

void advance_by(proxy_op& op, std::size_t bytes) {
  op.at += bytes;
  if (op.at < block_of(op)) return;
  op.at = 0;
  ++op.block;
}

}  // namespace

std::string initiator::validate(const command& cmd, const in_flight_commands& from) const {
  if (cmd.kind > command_kind::get_list)
    return fmt::format("is of the unknown kind {}", static_cast<unsigned>(cmd.kind));
  const int lowest = cmd.kind == command_kind::quiet ? -1 : 0;
  if (cmd.pe < lowest || cmd.pe >= state_.settings.n)
    return fmt::format("is for PE {}, but there are PEs 0 to {} only", cmd.pe, state_.settings.n - 1);
  if (cmd.answer != no_answer && cmd.answer >> from.source()->view().log2_answers != 0)
    return fmt::format("names answer cell {}, which does not exist", cmd.answer);
  if (is_strided(cmd) && cmd.bytes != 0 && (cmd.block == 0 || cmd.bytes % cmd.block != 0))
    return fmt::format("moves {} bytes in blocks of {}", cmd.bytes, cmd.block);
  if (is_list(cmd) &&
      (cmd.bytes % sizeof(listed_block) != 0 || cmd.bytes > workspace_view::most_listed * sizeof(listed_block)))
    return fmt::format("has a list of {} bytes", cmd.bytes);
  if (const inline_value value = inline_value_of(cmd); value.at != nullptr && cmd.bytes > value.room)
    return fmt::format("has a value of {} bytes", cmd.bytes);
  return {};
}

std::size_t initiator::take_commands(in_flight_commands& from, std::string& invalid) {
  ring& source = *from.source();
  std::size_t taken = 0;
  bool blocked = false;
  for (; taken < commands_per_turn && !from.full(); ++taken) {
    const command* const next = source.next();
    if (next == nullptr) break;
    if (std::string because = validate(*next, from); !because.empty()) {
      invalid = fmt::format("command {} of a ring {}: was the ring's memory overwritten?", source.taken(), because);
      break;
    }
    command cmd = *next;
    if (!start(from, cmd)) {
      blocked = true;
      break;
    }
    count(cmd);
    source.take();
  }
  from.set_blocked(blocked || from.full());
  state_.counts.commands += taken;
  return taken;
}

void initiator::count(const command& cmd) noexcept {
  // a fence or a quiet is not counted for a PE
  if (cmd.kind == command_kind::fence || cmd.kind == command_kind::quiet) return;
  command_counts& counts = state_.to(cmd.pe).counts;
  if (cmd.kind == command_kind::atomic) return ++counts.atomics;
  const bool signals = cmd.kind == command_kind::signal || cmd.kind == command_kind::put_signal ||
                       cmd.kind == command_kind::put_value_signal;
  if (signals) ++counts.signals;
  const std::uint64_t bytes = bytes_of(cmd);
  if (bytes == 0) return;
  const bool gets = fetches_to_memory(cmd) || cmd.kind == command_kind::get_value;
  ++(gets ? counts.gets : counts.puts);
  (gets ? counts.get_bytes : counts.put_bytes) += bytes;
}

void initiator::request_acks(in_flight_commands& from) {
  if (!from.take_wait()) return;
  for (int pe = 0; pe < state_.settings.n; ++pe) {
    if (from.has_in_flight(pe)) state_.await_acks(state_.to(pe));
  }
}

bool initiator::drop_commands(in_flight_commands& from) {
  ring& source = *from.source();
  const std::uint64_t before = source.taken();
  while (source.taken() - before < commands_per_turn && source.next() != nullptr) source.take();
  return source.taken() != before;
}

bool initiator::start(in_flight_commands& from, command& cmd) {
  if (cmd.kind == command_kind::quiet) {
    from.quiet(from.start(cmd, false));
    if (cmd.pe >= 0) state_.await_acks(state_.to(cmd.pe));
    return true;
  }
  if (cmd.kind == command_kind::fence) {
    from.fence(cmd.pe);
    from.complete(from.start(cmd, false));
    return true;
  }
  const bool bulk = is_list(cmd) || (bytes_of(cmd) > state_.eager && inline_value_of(cmd).at == nullptr);
  if (!from.is_ordered(cmd.pe, bulk)) {
    state_.await_acks(state_.to(cmd.pe));
    return false;
  }
  if (is_list(cmd)) return start_list(from, cmd);
  if (bulk) {
    start_bulk(from, cmd);
    return true;
  }
  switch (cmd.kind) {
    case command_kind::atomic: return start_atomic(from, cmd);
    case command_kind::put_signal:
    case command_kind::put_value_signal:
    case command_kind::signal: return start_signal(from, cmd);
    default: return start_data(from, cmd);
  }
}

bool initiator::start_data(in_flight_commands& from, const command& cmd) {
  const auto total = static_cast<std::size_t>(bytes_of(cmd));
  peer_state& to = state_.to(cmd.pe);
  const bool requests = fetches_to_memory(cmd) || cmd.kind == command_kind::get_value;
  if (total > 0) {
    if (requests && !may_request(to, total)) return false;
    if (!to.out.reserve(message_op_overhead + (requests ? 0 : padded(total)))) return false;
  }
  proxy_op& op = from.start(cmd, requests && cmd.kind != command_kind::get_value);
  if (total > 0) static_cast<void>(issue_message_op(to, op));
  from.all_issued(op);
  return true;
}

void initiator::start_bulk(in_flight_commands& from, const command& cmd) {
  proxy_op& op = from.start(cmd, true);
  if (op.has_signal()) from.defer_signal(op);
  queue_bulk(op);
}

/// Reads the whole array before the first block is copied, because other groups wait for the memory of the array.
/// @param cmd `bytes` becomes the number of bytes of all blocks
bool initiator::start_list(in_flight_commands& from, command& cmd) {
  peer_state& to = state_.to(cmd.pe);
  if (to.waiting_lists >= most_waiting_lists) return false;
  std::vector<listed_block> list(static_cast<std::size_t>(cmd.bytes) / sizeof(listed_block));
  if (!list.empty()) {
    state_.memory.read(reinterpret_cast<std::byte*>(list.data()), reinterpret_cast<const std::byte*>(cmd.local),
                       {static_cast<std::size_t>(cmd.bytes)});
    state_.output.complete_reads();
  }
  std::erase_if(list, [](const listed_block& each) { return each.bytes == 0; });
  cmd.bytes = 0;
  for (const listed_block& each : list) cmd.bytes += each.bytes;
  proxy_op& op = from.start(cmd, true);
  op.list = std::move(list);
  from.list_read(op);
  ++to.waiting_lists;
  queue_bulk(op);
  return true;
}

void initiator::queue_bulk(proxy_op& op) {
  peer_state& to = state_.to(op.cmd.pe);
  to.bulk_ops.push(&op);
  if (to.bulk_ops.size() == 1) advance_bulk_ops(to);
  state_.touch(to);
}

bool initiator::start_signal(in_flight_commands& from, const command& cmd) {
  peer_state& to = state_.to(cmd.pe);
  const auto bytes = static_cast<std::size_t>(bytes_of(cmd));
  if (!to.out.reserve(message_op_overhead + padded(bytes))) return false;
  const bool send_now = from.may_send_signal(cmd.pe);
  proxy_op& op = from.start(cmd, false);
  if (send_now) {
    const message_op_header head{message_op_kind::put_signal,       cmd.update, datatype::u64, 0,
                                 static_cast<std::uint32_t>(bytes), cmd.offset};
    std::byte* const payload = to.out.append(head, bytes, signal_part{cmd.value[1], cmd.value[0]});
    if (bytes > 0) {
      fill(op, payload, reinterpret_cast<const std::byte*>(cmd.local), {bytes});
      expect_ack(to, op, false);
    } else {
      from.signal_issued(op);  // a signal is not data: other signals do not wait for it
      expect_ack(to, op, true);
    }
  } else {
    if (bytes > 0) static_cast<void>(issue_message_op(to, op));
    from.defer_signal(op);
  }
  from.all_issued(op);
  return true;
}

bool initiator::start_atomic(in_flight_commands& from, const command& cmd) {
  peer_state& to = state_.to(cmd.pe);
  const bool requests = cmd.answer != no_answer;
  if ((requests && !may_request(to, sizeof(std::uint64_t))) || !to.out.reserve(message_op_overhead)) return false;
  proxy_op& op = from.start(cmd, false);
  atomic_part atomic{0, cmd.value[0], cmd.value[1]};
  if (requests) {
    atomic.request = add_request(to, {&op, cmd.pe, nullptr, {}, sizeof(std::uint64_t)});
  }
  const std::uint8_t fenced = from.take_fence(cmd.pe) ? 1 : 0;
  static_cast<void>(to.out.append({message_op_kind::atomic, cmd.update, cmd.as, fenced, 0, cmd.offset}, 0, atomic));
  if (!requests) expect_ack(to, op, false);
  state_.touch(to);
  from.all_issued(op);
  return true;
}

void initiator::send_signals(in_flight_commands& from) {
  while (proxy_op* const op = from.ready_signal()) {
    peer_state& to = state_.to(op->cmd.pe);
    if (!to.out.reserve(message_op_overhead)) return;
    const message_op_header head{message_op_kind::put_signal, op->cmd.update, datatype::u64, 0, 0, 0};
    static_cast<void>(to.out.append(head, 0, signal_part{op->cmd.value[1], op->cmd.value[0]}));
    expect_ack(to, *op, true);
    from.signal_sent();
  }
}

void initiator::advance_bulk_ops(peer_state& to) {
  while (!to.bulk_ops.empty()) {
    proxy_op& op = *to.bulk_ops.front();
    if (!advance(to, op)) return;
    to.bulk_ops.pop();
    if (is_list(op.cmd)) --to.waiting_lists;
    op.owner->all_issued(op);
  }
}

/// Issues as many parts as may be in flight. Returns whether all parts are issued.
bool initiator::advance(peer_state& to, proxy_op& op) {
  const std::uint64_t blocks = blocks_of(op);
  while (op.block < blocks) {
    const place next(op);
    const std::uint64_t block = block_of(op);
    const std::uint64_t left = block - op.at;
    const exposed_segments::segment* remote = block > state_.eager ? to.memory.find(next.offset) : nullptr;
    const bool by_chunk = remote != nullptr && transport_may_use(next.local, static_cast<std::size_t>(left));
    if (by_chunk ? !issue_chunk(to, op, *remote) : !advance_by_message(to, op)) return false;
  }
  return true;
}

/// Requests acknowledgements, because the remaining parts and later operations can depend on them.
bool initiator::advance_by_message(peer_state& to, proxy_op& op) {
  const bool issued = to.out.in_flight() < bulk_window && issue_message_op(to, op);
  to.out.await(to.out.sequence());
  return issued;
}

bool initiator::issue_chunk(peer_state& to, proxy_op& op, const exposed_segments::segment& remote) {
  // A transport can complete all chunks of one turn together. Half of the chunks are issued at a time, so that the
  // other half keeps the network busy.
  const std::size_t most = state_.settings.chunks_in_flight;
  if (to.chunks >= most || to.new_chunks >= (most + 1) / 2) return false;
  constexpr std::size_t cache_line = 64;
  const place next(op);
  const std::uint64_t into = next.offset - remote.offset;
  const std::size_t bytes = chunk_size(next.offset, std::min(block_of(op) - op.at, remote.bytes - into),
                                       state_.settings.chunk_bytes, cache_line);
  const std::uint64_t key = state_.chunks.take();
  state_.chunks[key] = {&op, &to};
  const transport_token token = engine_state::chunk_token | key;
  op.owner->local_part_issued(op);
  ++to.chunks;
  ++to.new_chunks;
  ++state_.counts.chunks;
  state_.counts.chunk_bytes += bytes;
  advance_by(op, bytes);
  if (op.fetches())
    state_.network.get(remote.imported, into, next.local, bytes, token);
  else
    state_.network.put(remote.imported, into, next.local, bytes, token);
  return true;
}

/// Issues the largest number of whole blocks that fit into one message operation, or a part of one block.
bool initiator::issue_message_op(peer_state& to, proxy_op& op) {
  const command& cmd = op.cmd;
  const place next(op);
  const std::uint64_t block = block_of(op);
  block_list local{static_cast<std::size_t>(block), 1, local_step(cmd)};
  if (op.at == 0 && block <= state_.payload) {
    if (is_strided(cmd))
      local.count = static_cast<std::size_t>(std::min(blocks_of(op) - op.block, state_.payload / block));
  } else {
    constexpr std::size_t word = 8;
    local.bytes = chunk_size(next.offset, block - op.at, state_.payload, word);
  }
  const std::size_t total = local.bytes * local.count;
  const bool single = local.count == 1;
  const strided_part blocks{local.count, remote_step(cmd)};
  message_op_header head{message_op_kind::put, {}, {}, 0, static_cast<std::uint32_t>(local.bytes), next.offset};
  if (op.fetches() || cmd.kind == command_kind::get_value) {
    if (!may_request(to, total) || !to.out.reserve(message_op_overhead)) return false;
    std::byte* const to_memory = op.fetches() ? next.local : nullptr;
    const request_part request{add_request(to, {&op, cmd.pe, to_memory, local, total})};
    head.kind = single ? message_op_kind::get : message_op_kind::get_strided;
    if (single)
      static_cast<void>(to.out.append(head, 0, request));
    else
      static_cast<void>(to.out.append(head, 0, request, blocks));
  } else {
    if (!to.out.reserve(message_op_overhead + padded(total))) return false;
    head.kind = single ? message_op_kind::put : message_op_kind::put_strided;
    std::byte* const payload = single ? to.out.append(head, total) : to.out.append(head, total, blocks);
    fill(op, payload, next.local, local);
    expect_ack(to, op, false);
  }
  state_.touch(to);
  if (single) {
    advance_by(op, local.bytes);
  } else {
    op.block += local.count;
  }
  return true;
}

bool initiator::may_request(const peer_state& peer, std::size_t bytes) const noexcept {
  return peer.requested_bytes == 0 ||
         peer.requested_bytes + pending_request::cost(bytes) <= state_.settings.reply_bytes;
}

std::uint64_t initiator::add_request(peer_state& peer, const pending_request& request) {
  peer.requested_bytes += pending_request::cost(request.bytes);
  request.op->owner->part_issued(*request.op);
  const std::uint64_t key = state_.requests.take();
  state_.requests[key] = request;
  return key;
}

/// @param local the source, unless the command itself contains the bytes
void initiator::fill(proxy_op& op, std::byte* payload, const std::byte* local, const block_list& blocks) {
  if (const void* const value = inline_value_of(op.cmd).at) {
    std::memcpy(payload, value, blocks.bytes);
    return;
  }
  reads_.push_back(&op);
  if (state_.output.read(payload, local, blocks))
    op.owner->local_part_issued(op);
  else
    reads_.pop_back();
}

void initiator::complete_reads() {
  state_.output.complete_reads();
  for (proxy_op* const each : reads_) each->owner->local_part_done(*each);
  reads_.clear();
}

void initiator::expect_ack(peer_state& to, proxy_op& op, bool is_signal) {
  if (!is_signal) op.owner->part_issued(op);
  to.pending_acks.push({to.out.sequence(), &op, is_signal});
  state_.touch(to);
}

bool initiator::transport_may_use(const std::byte* local, std::size_t bytes) const noexcept {
  if (state_.memory.host_accessible()) return true;
  const auto address = reinterpret_cast<std::uintptr_t>(local);
  const exposed_segments::segment* const mine = state_.exposed.find(address);
  return mine != nullptr && bytes <= mine->bytes - (address - mine->offset);
}

}  // namespace pgas::detail
