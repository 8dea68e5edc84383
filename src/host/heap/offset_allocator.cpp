#include "host/heap/offset_allocator.hpp"

#include <algorithm>
#include <iterator>

namespace pgas::detail {

namespace {

constexpr std::size_t align_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

/// Whether an aligned range of the wanted size lies in [offset, offset + bytes).
bool fits(std::size_t offset, std::size_t bytes, offset_allocator::request wanted) {
  const std::size_t lost = align_up(offset, wanted.alignment) - offset;
  return bytes >= lost && bytes - lost >= wanted.bytes;
}

}  // namespace

offset_allocator::request offset_allocator::rounded(std::size_t bytes, std::size_t alignment) noexcept {
  const std::size_t unit = bytes >= line_alignment ? line_alignment : small_alignment;
  const std::size_t least = bytes >= large_alignment ? large_alignment : unit;
  return {align_up(bytes, unit), std::max(alignment, least)};
}

offset_allocator::by_size::const_iterator offset_allocator::choose(request wanted) const {
  // A block can be large enough for the size, but too small after alignment. The search tries a few blocks of the
  // smallest sufficient size, then a block that is large enough for any alignment. If no such block exists, the search
  // tries all other blocks.
  constexpr int tries = 16;
  auto block = by_size_.lower_bound({wanted.bytes, 0});
  for (int i = 0; i < tries && block != by_size_.end(); ++i, ++block)
    if (fits(block->second, block->first, wanted)) return block;
  const auto certain = by_size_.lower_bound({wanted.bytes + wanted.alignment - small_alignment, 0});
  if (certain != by_size_.end()) return certain;
  return std::find_if(block, by_size_.end(), [&](const auto& b) { return fits(b.second, b.first, wanted); });
}

std::optional<std::size_t> offset_allocator::find(request wanted) const {
  const auto block = choose(wanted);
  if (block == by_size_.end()) return std::nullopt;
  return align_up(block->second, wanted.alignment);
}

std::optional<std::size_t> offset_allocator::allocate(request wanted) {
  const auto chosen = choose(wanted);
  if (chosen == by_size_.end()) return std::nullopt;
  const auto [bytes, offset] = *chosen;
  const std::size_t start = align_up(offset, wanted.alignment);
  erase_free(free_.find(offset));
  if (start > offset) insert_free(offset, start - offset);
  const std::size_t end = start + wanted.bytes;
  if (end < offset + bytes) insert_free(end, offset + bytes - end);
  live_.emplace(start, wanted.bytes);
  used_ += wanted.bytes;
  return start;
}

bool offset_allocator::free(std::size_t offset) {
  const auto allocation = live_.find(offset);
  if (allocation == live_.end()) return false;
  const std::size_t bytes = allocation->second;
  live_.erase(allocation);
  used_ -= bytes;
  join_free(offset, bytes);
  return true;
}

std::optional<std::size_t> offset_allocator::allocation_around(std::size_t offset) const {
  auto after = live_.upper_bound(offset);
  if (after == live_.begin()) return std::nullopt;
  const auto& [start, bytes] = *std::prev(after);
  if (offset - start >= bytes) return std::nullopt;
  return start;
}

std::size_t offset_allocator::allocation_bytes(std::size_t offset) const {
  const auto allocation = live_.find(offset);
  return allocation == live_.end() ? 0 : allocation->second;
}

void offset_allocator::add(std::size_t offset, std::size_t bytes) {
  if (bytes == 0) return;
  join_free(offset, bytes);
  size_ += bytes;
}

std::size_t offset_allocator::growth_needed(request wanted) const noexcept {
  std::size_t tail = size_;
  if (!free_.empty()) {
    const auto& [offset, bytes] = *std::prev(free_.end());
    if (offset + bytes == size_) tail = offset;
  }
  const std::size_t start = align_up(tail, wanted.alignment);
  const std::size_t end = start + wanted.bytes;
  if (start < tail || end < start) return ~std::size_t{0};
  return end > size_ ? end - size_ : 0;
}

void offset_allocator::join_free(std::size_t offset, std::size_t bytes) {
  std::size_t start = offset;
  std::size_t end = offset + bytes;
  auto next = free_.lower_bound(offset);
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == start) {
      start = previous->first;
      erase_free(previous);
    }
  }
  if (next != free_.end() && next->first == end) {
    end += next->second;
    erase_free(next);
  }
  insert_free(start, end - start);
}

void offset_allocator::insert_free(std::size_t offset, std::size_t bytes) {
  free_.emplace(offset, bytes);
  by_size_.emplace(bytes, offset);
}

void offset_allocator::erase_free(std::map<std::size_t, std::size_t>::iterator block) {
  by_size_.erase({block->second, block->first});
  free_.erase(block);
}

}  // namespace pgas::detail
