/// @file
/// Offsets that the members of a group agree on, without the other PEs.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

#include "host/control/control_group.hpp"

namespace pgas::detail {

/// Each PE keeps its own map of the ranges of [begin, end) that are taken; as teams overlap, these maps differ. A group
/// finds a range that is free on all of its members. *Callers* any thread, collectives one for each group.
class group_offset_allocator {
 public:
  /// @param unit offsets and sizes are multiples of it.
  group_offset_allocator(std::size_t begin, std::size_t end, std::size_t unit)
      : begin_(begin), end_(end), unit_(unit) {}

  /// Collective over `group`, same size: the lowest range from `wish` on that is free on all members, else the lowest
  /// of all; none where one of them has none. Wishes may differ: the highest counts. A wish outside [begin, end) is
  /// none. In each round a member proposes its lowest free offset at or above the highest proposal of the round before,
  /// until all proposals are equal. A proposal is taken here meanwhile, so that groups of other threads propose others.
  [[nodiscard]] std::optional<std::size_t> take(const control_group& group, std::size_t bytes, std::size_t wish = 0);
  /// Not a collective: only these offsets of this PE are free again.
  void release(std::size_t offset) noexcept;
  /// How many ranges are taken.
  [[nodiscard]] std::size_t count() const;

 private:
  /// The lowest range from `from` on that all members find free.
  [[nodiscard]] std::optional<std::size_t> take_from(std::size_t from, const control_group& group, std::size_t bytes);
  [[nodiscard]] std::optional<std::size_t> take_here(std::size_t from, std::size_t bytes);

  const std::size_t begin_;
  const std::size_t end_;
  const std::size_t unit_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::size_t> taken_;  ///< offset to bytes
};

}  // namespace pgas::detail
