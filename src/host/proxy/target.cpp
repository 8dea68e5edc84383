#include "host/proxy/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "common/value_bytes.hpp"

namespace pgas::detail {

/// The part of a message that has not been read.
class target::cursor {
 public:
  explicit cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
  /// Reads `part`. Returns false if the message is too short.
  template <class Part>
  [[nodiscard]] bool read(Part& part) noexcept {
    return take_value(bytes_, part);
  }
  /// Reads a payload of the given size. Null if the message is shorter.
  [[nodiscard]] const std::byte* payload(std::uint64_t bytes) noexcept {
    if (bytes > bytes_.size() || padded(bytes) > bytes_.size()) return nullptr;
    const std::byte* const at = bytes_.data();
    bytes_ = bytes_.subspan(padded(bytes));
    return at;
  }

 private:
  std::span<const std::byte> bytes_;
};

namespace {

constexpr const char* truncated = "a truncated operation";

bool is_atomic(datatype as) { return as <= datatype::bf16x2 && as != datatype::i16 && as != datatype::u16; }

}  // namespace

std::string target::execute(int from, std::span<const std::byte> ops) {
  cursor rest(ops);
  while (!rest.empty()) {
    message_op_header head;
    if (!rest.read(head)) return truncated;
    if (std::string wrong = execute(from, head, rest); !wrong.empty()) return wrong;
    ++state_.counts.message_ops;
  }
  return {};
}

std::string target::execute(int from, const message_op_header& head, cursor& rest) {
  switch (head.kind) {
    case message_op_kind::put: return put(head, rest);
    case message_op_kind::put_signal: return put_signal(head, rest);
    case message_op_kind::put_strided: return put_strided(head, rest);
    case message_op_kind::atomic: return atomic(from, head, rest);
    case message_op_kind::get: return get(from, head, rest, false);
    case message_op_kind::get_strided: return get(from, head, rest, true);
    case message_op_kind::reply: return reply(from, head, rest);
  }
  return fmt::format("an operation of the unknown kind {}", static_cast<unsigned>(head.kind));
}

std::string target::put(const message_op_header& head, cursor& rest) {
  const std::byte* const bytes = rest.payload(head.bytes);
  if (bytes == nullptr) return truncated;
  if (std::string wrong = range_error(head.offset, head.bytes); !wrong.empty()) return wrong;
  state_.memory.write(address(head.offset), bytes, {head.bytes});
  written_ = true;
  return {};
}

std::string target::put_signal(const message_op_header& head, cursor& rest) {
  signal_part signal;
  if (!rest.read(signal)) return truncated;
  const std::byte* const bytes = rest.payload(head.bytes);
  if (bytes == nullptr) return truncated;
  if (head.update != atomic_update::set && head.update != atomic_update::add)
    return fmt::format("a signal with the unknown update {}", static_cast<unsigned>(head.update));
  if (std::string wrong = word_error(signal.offset, datatype::u64); !wrong.empty()) return wrong;
  if (head.bytes > 0) {
    if (std::string wrong = range_error(head.offset, head.bytes); !wrong.empty()) return wrong;
    state_.memory.write(address(head.offset), bytes, {head.bytes});
  }
  batched_atomic update;  // the memory executes the update after the write
  update.at = address(signal.offset);
  update.how = head.update;
  update.value = signal.value;
  state_.memory.update(update, nullptr);
  written_ = true;
  return {};
}

std::string target::put_strided(const message_op_header& head, cursor& rest) {
  strided_part blocks;
  if (!rest.read(blocks)) return truncated;
  if (std::string wrong = blocks_error(head, blocks); !wrong.empty()) return wrong;
  const std::byte* const bytes = rest.payload(head.bytes * blocks.count);
  if (bytes == nullptr) return truncated;
  state_.memory.write(address(head.offset), bytes, {head.bytes, blocks.count, blocks.step});
  written_ = true;
  return {};
}

std::string target::atomic(int from, const message_op_header& head, cursor& rest) {
  atomic_part what;
  if (!rest.read(what)) return truncated;
  if (!is_atomic(head.as) || head.update > atomic_update::compare_swap)
    return fmt::format("an unknown atomic operation {} on a word of the kind {}", static_cast<unsigned>(head.update),
                       static_cast<unsigned>(head.as));
  if (std::string wrong = word_error(head.offset, head.as); !wrong.empty()) return wrong;
  batched_atomic update;
  update.at = address(head.offset);
  update.how = head.update;
  update.as = head.as;
  update.fenced = head.fenced != 0;
  update.value = what.value;
  update.condition = what.condition;
  state_.memory.update(update, what.request != 0 ? append_reply(from, what.request, sizeof update.old) : nullptr);
  written_ = true;
  return {};
}

std::string target::get(int from, const message_op_header& head, cursor& rest, bool strided) {
  request_part request;
  strided_part blocks{1, 0};
  if (!rest.read(request) || (strided && !rest.read(blocks))) return truncated;
  if (std::string wrong = blocks_error(head, blocks); !wrong.empty()) return wrong;
  const auto bytes = static_cast<std::uint32_t>(head.bytes * blocks.count);
  state_.memory.read(append_reply(from, request.request, bytes), address(head.offset),
                     {head.bytes, blocks.count, blocks.step});
  return {};
}

std::string target::reply(int from, const message_op_header& head, cursor& rest) {
  const std::byte* const bytes = rest.payload(head.bytes);
  if (bytes == nullptr) return truncated;
  const pending_request* const found = state_.requests.find(head.offset);
  if (found == nullptr || found->pe != from || found->bytes != head.bytes)
    return fmt::format("a reply of {} bytes that was not requested", head.bytes);
  const pending_request request = *found;
  state_.requests.release(head.offset);
  if (request.local == nullptr) {
    auto& value = request.op->cmd.value;
    std::fill(std::begin(value), std::end(value), 0);
    std::memcpy(value, bytes, std::min(request.bytes, sizeof value));
  } else if (request.op->owner->source() != nullptr) {  // after remove_ring() the memory might be freed
    state_.memory.write(request.local, bytes, request.blocks);
  }
  state_.replies.push_back(request);
  return {};
}

std::byte* target::append_reply(int pe, std::uint64_t request, std::uint32_t bytes) {
  peer_state& to = state_.to(pe);
  to.out.reserve_reply(message_op_overhead + padded(bytes));
  state_.touch(to);
  return to.out.append({message_op_kind::reply, {}, {}, 0, bytes, request}, bytes);
}

std::string target::range_error(std::uint64_t offset, std::uint64_t bytes) const {
  if (state_.settings.contains(offset, bytes)) return {};
  return fmt::format("an operation on {} bytes at offset {:#x} of this PE's heap, where this PE has no memory", bytes,
                     offset);
}

std::string target::blocks_error(const message_op_header& head, const strided_part& blocks) const {
  if (head.bytes == 0 || blocks.count == 0) return "blocks without bytes";
  if (head.bytes > state_.payload || blocks.count > state_.payload / head.bytes)
    return fmt::format("{} blocks of {} bytes in one operation of at most {}", blocks.count, head.bytes,
                       state_.payload);
  // Computes the range from the lowest to the highest byte of all blocks. The values come from another PE, so the
  // arithmetic can overflow.
  const auto steps = static_cast<std::int64_t>(blocks.count - 1);
  std::int64_t reach = 0;
  std::uint64_t end = 0;
  bool leaves = __builtin_mul_overflow(steps, blocks.step, &reach);
  const std::uint64_t distance = reach < 0 ? 0 - static_cast<std::uint64_t>(reach) : static_cast<std::uint64_t>(reach);
  std::uint64_t low = head.offset;
  if (reach < 0) leaves = leaves || __builtin_sub_overflow(head.offset, distance, &low);
  leaves = leaves || __builtin_add_overflow(low, distance, &end) || __builtin_add_overflow(end, head.bytes, &end);
  if (leaves) return fmt::format("blocks {} bytes apart that leave this PE's heap", blocks.step);
  return range_error(low, end - low);
}

std::string target::word_error(std::uint64_t offset, datatype as) const {
  const std::size_t bytes = size_of(as);
  if (offset % bytes != 0) return fmt::format("an atomic operation on the misaligned word at offset {:#x}", offset);
  return range_error(offset, bytes);
}

}  // namespace pgas::detail
