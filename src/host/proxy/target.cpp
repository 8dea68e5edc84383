#include "host/proxy/target.hpp"

#include <fmt/format.h>

#include <cstring>

namespace pgas::detail {

/// What is left of a message.
class target::cursor {
 public:
  explicit cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
  /// Whether `part` could be read.
  template <class Part>
  [[nodiscard]] bool read(Part& part) noexcept {
    if (bytes_.size() < sizeof part) return false;
    std::memcpy(&part, bytes_.data(), sizeof part);
    bytes_ = bytes_.subspan(sizeof part);
    return true;
  }
  /// The payload of so many bytes, null if it is not there.
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

constexpr const char* truncated = "a record that ends before its time";

bool is_atomic(datatype as) { return as <= datatype::bf16x2 && as != datatype::i16 && as != datatype::u16; }

}  // namespace

std::string target::execute_operation(int from, std::span<const std::byte> records) {
  cursor rest(records);
  while (!rest.empty()) {
    record_header head;
    if (!rest.read(head)) return truncated;
    if (std::string wrong = execute_operation(from, head, rest); !wrong.empty()) return wrong;
    ++records_;
  }
  return {};
}

std::string target::execute_operation(int from, const record_header& head, cursor& rest) {
  switch (head.kind) {
    case record_kind::put: return put(head, rest);
    case record_kind::put_signal: return put_signal(head, rest);
    case record_kind::put_strided: return put_strided(head, rest);
    case record_kind::atomic: return atomic(from, head, rest);
    case record_kind::get: return get(from, head, rest, false);
    case record_kind::get_strided: return get(from, head, rest, true);
    case record_kind::reply: {
      const std::byte* const bytes = rest.payload(head.bytes);
      if (bytes == nullptr) return truncated;
      if (events_.replied(from, head.offset, {bytes, head.bytes})) return {};
      return fmt::format("a reply of {} bytes that nobody waits for", head.bytes);
    }
  }
  return fmt::format("a record of the unknown kind {}", static_cast<unsigned>(head.kind));
}

std::string target::put(const record_header& head, cursor& rest) {
  const std::byte* const bytes = rest.payload(head.bytes);
  if (bytes == nullptr) return truncated;
  if (std::string wrong = range_error(head.offset, head.bytes); !wrong.empty()) return wrong;
  memory_.write(address(head.offset), bytes, {head.bytes});
  wrote_ = true;
  return {};
}

std::string target::put_signal(const record_header& head, cursor& rest) {
  signal_part signal;
  if (!rest.read(signal)) return truncated;
  const std::byte* const bytes = rest.payload(head.bytes);
  if (bytes == nullptr) return truncated;
  if (head.update != atomic_update::set && head.update != atomic_update::add)
    return fmt::format("a signal with the unknown update {}", static_cast<unsigned>(head.update));
  if (std::string wrong = word_error(signal.offset, datatype::u64); !wrong.empty()) return wrong;
  if (head.bytes > 0) {
    if (std::string wrong = range_error(head.offset, head.bytes); !wrong.empty()) return wrong;
    memory_.write(address(head.offset), bytes, {head.bytes});
  }
  batched_atomic update;  // comes after all that is before it
  update.at = address(signal.offset);
  update.how = head.update;
  update.value = signal.value;
  memory_.update(update, nullptr);
  wrote_ = true;
  return {};
}

std::string target::put_strided(const record_header& head, cursor& rest) {
  strided_part blocks;
  if (!rest.read(blocks)) return truncated;
  if (std::string wrong = blocks_error(head, blocks); !wrong.empty()) return wrong;
  const std::byte* const bytes = rest.payload(head.bytes * blocks.count);
  if (bytes == nullptr) return truncated;
  memory_.write(address(head.offset), bytes, {head.bytes, blocks.count, blocks.step});
  wrote_ = true;
  return {};
}

std::string target::atomic(int from, const record_header& head, cursor& rest) {
  atomic_part what;
  if (!rest.read(what)) return truncated;
  if (!is_atomic(head.as) || head.update > atomic_update::compare_swap)
    return fmt::format("an atomic operation {} on a word of the kind {}, which is none",
                       static_cast<unsigned>(head.update), static_cast<unsigned>(head.as));
  if (std::string wrong = word_error(head.offset, head.as); !wrong.empty()) return wrong;
  batched_atomic update;
  update.at = address(head.offset);
  update.how = head.update;
  update.as = head.as;
  update.fenced = head.fenced != 0;
  update.value = what.value;
  update.condition = what.condition;
  memory_.update(update, what.request != 0 ? events_.reply(from, what.request, sizeof update.old) : nullptr);
  wrote_ = true;
  return {};
}

std::string target::get(int from, const record_header& head, cursor& rest, bool strided) {
  request_part request;
  strided_part blocks{1, 0};
  if (!rest.read(request) || (strided && !rest.read(blocks))) return truncated;
  if (std::string wrong = blocks_error(head, blocks); !wrong.empty()) return wrong;
  const auto bytes = static_cast<std::uint32_t>(head.bytes * blocks.count);
  memory_.read(events_.reply(from, request.request, bytes), address(head.offset),
               {head.bytes, blocks.count, blocks.step});
  return {};
}

std::string target::range_error(std::uint64_t offset, std::uint64_t bytes) const {
  if (settings_.contains(offset, bytes)) return {};
  return fmt::format("something for {} bytes at offset {:#x} of this PE's heap, where it has no memory", bytes, offset);
}

std::string target::blocks_error(const record_header& head, const strided_part& blocks) const {
  if (head.bytes == 0 || blocks.count == 0) return "blocks without bytes";
  if (head.bytes > payload_ || blocks.count > payload_ / head.bytes)
    return fmt::format("{} blocks of {} bytes in one record of at most {}", blocks.count, head.bytes, payload_);
  // From the lowest to the highest byte, without an overflow at any distance.
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
  if (offset % bytes != 0) return fmt::format("an update of the misaligned word at offset {:#x}", offset);
  return range_error(offset, bytes);
}

}  // namespace pgas::detail
