/// @file
/// Offsets for the memory of a group. Only the members of the group take part in an allocation.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

#include "host/exchange/control_group.hpp"

namespace pgas::detail {

/// Each PE has a map of the allocated ranges of [begin, end). The maps differ, because teams overlap. A group allocates
/// a range that is free on all of its members. *Callers* any thread; for collectives one thread for each group.
class group_offset_allocator {
 public:
  /// @param unit a divisor of all offsets and sizes
  group_offset_allocator(std::size_t begin, std::size_t end, std::size_t unit)
      : begin_(begin), end_(end), unit_(unit) {}

  /// Allocates the lowest range at or above `wish` that is free on all members. If no such range is free, allocates the
  /// lowest range that is free on all members. Empty if no range is free. Collective over `group`, with the same size
  /// on all members. If the wishes differ, the highest wish is used. A wish outside [begin, end) has no effect. In each
  /// round, a member proposes its lowest free offset at or above the highest proposal of the previous round, until all
  /// proposals are equal. During the rounds this PE reserves its proposal, so that groups of other threads propose
  /// other offsets.
  [[nodiscard]] std::optional<std::size_t> take(const control_group& group, std::size_t bytes, std::size_t wish = 0);
  /// Frees the range on this PE only. Not collective.
  void release(std::size_t offset) noexcept;
  /// The number of allocated ranges.
  [[nodiscard]] std::size_t count() const;

 private:
  /// The lowest range at or above `from` that is free on all members.
  [[nodiscard]] std::optional<std::size_t> take_from(std::size_t from, const control_group& group, std::size_t bytes);
  [[nodiscard]] std::optional<std::size_t> take_here(std::size_t from, std::size_t bytes);

  const std::size_t begin_;
  const std::size_t end_;
  const std::size_t unit_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::size_t> taken_;  ///< the size of each allocated range, by offset
};

}  // namespace pgas::detail
