#include "host/heap/allocation_list.hpp"

#include <iterator>

namespace pgas::detail {

void allocation_list::add(std::uint64_t offset, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  by_offset_[offset] = {made_++, offset, bytes};
}

void allocation_list::remove(std::uint64_t offset) noexcept {
  const std::lock_guard lock(mutex_);
  by_offset_.erase(offset);
}

void allocation_list::clear() noexcept {
  const std::lock_guard lock(mutex_);
  by_offset_.clear();
}

std::optional<allocation> allocation_list::around(std::uint64_t offset) const {
  const std::lock_guard lock(mutex_);
  const auto after = by_offset_.upper_bound(offset);
  if (after == by_offset_.begin()) return std::nullopt;
  const allocation& before = std::prev(after)->second;
  if (offset - before.offset >= before.bytes) return std::nullopt;
  return before;
}

}  // namespace pgas::detail
