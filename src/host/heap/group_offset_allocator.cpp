#include "host/heap/group_offset_allocator.hpp"

#include <algorithm>
#include <cstdint>

#include "host/exchange/agreement.hpp"

namespace pgas::detail {

std::optional<std::size_t> group_offset_allocator::take(const control_group& group, std::size_t bytes,
                                                        std::size_t wish) {
  const bool inside = wish >= begin_ && wish < end_ && wish % unit_ == 0;
  std::optional<std::size_t> taken = take_from(inside ? wish : begin_, group, bytes);
  // If no range at or above the wishes of the members is free, all members search from begin_. A member without a wish
  // searches again too, because it does not know the wishes of the other members.
  if (!taken) taken = take_from(begin_, group, bytes);
  return taken;
}

std::optional<std::size_t> group_offset_allocator::take_from(std::size_t from, const control_group& group,
                                                             std::size_t bytes) {
  constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  struct range {
    std::uint64_t lowest;
    std::uint64_t highest;
  };
  std::optional<std::size_t> mine = take_here(from, bytes);
  try {
    for (;;) {
      const std::uint64_t proposal = mine ? *mine : nowhere;
      const range of_all = reduce_value(group, range{proposal, proposal}, [](const range& a, const range& b) {
        return range{std::min(a.lowest, b.lowest), std::max(a.highest, b.highest)};
      });
      if (of_all.highest == nowhere) break;
      if (of_all.lowest == of_all.highest) return mine;
      if (mine == of_all.highest) continue;
      release(*mine);
      mine = take_here(static_cast<std::size_t>(of_all.highest), bytes);
    }
  } catch (...) {
    if (mine) release(*mine);
    throw;
  }
  if (mine) release(*mine);
  return std::nullopt;
}

std::optional<std::size_t> group_offset_allocator::take_here(std::size_t from, std::size_t bytes) {
  if (bytes > end_ - begin_) return std::nullopt;
  bytes = (bytes + unit_ - 1) / unit_ * unit_;
  const std::lock_guard lock(mutex_);
  std::size_t at = from;
  auto next = taken_.upper_bound(from);
  if (next != taken_.begin()) {
    const auto& [offset, size] = *std::prev(next);
    at = std::max(at, offset + size);
  }
  while (next != taken_.end() && next->first - at < bytes) {
    at = next->first + next->second;
    ++next;
  }
  if (at > end_ || bytes > end_ - at) return std::nullopt;
  taken_.emplace(at, bytes);
  return at;
}

void group_offset_allocator::release(std::size_t offset) noexcept {
  const std::lock_guard lock(mutex_);
  taken_.erase(offset);
}

std::size_t group_offset_allocator::count() const {
  const std::lock_guard lock(mutex_);
  return taken_.size();
}

}  // namespace pgas::detail
