/// @file
/// The upper half of every slot, with the segments of teams and of registered buffers.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "host/exchange/control_group.hpp"
#include "host/heap/group_offset_allocator.hpp"
#include "host/heap/group_segment.hpp"

namespace pgas::detail {

/// The ranges in the upper half of the slots. Each range contains the segments of the members of one group. The lower
/// half of the slots grows on all PEs at the same time. In the upper half, the members of a group add and remove ranges
/// without other PEs, at offsets that are free on all members. At the offsets of a range, only the slots of members
/// have memory. *Callers* any thread; for collectives one thread for each group.
class team_segment_map {
 public:
  /// Called under a lock. [begin, end) contains the offsets of all team segments of this PE. `begin` and `end` are
  /// equal if the PE has no team segments.
  using change_callback = std::function<void(std::size_t begin, std::size_t end)>;

  team_segment_map(std::size_t begin, std::size_t end, std::size_t unit, change_callback on_change)
      : begin_(begin), end_(end), space_(begin, end, unit), on_change_(std::move(on_change)) {}

  /// Reserves an offset for `bytes`, the same on all members, until remove(). Prefers the lowest free offset at or
  /// above `wish`. Collective over `group`.
  [[nodiscard]] std::optional<std::size_t> reserve(const control_group& group, std::size_t bytes,
                                                   std::size_t wish = 0) {
    return space_.take(group, bytes, wish);
  }
  /// Takes ownership of contiguous segments, the first of which is at `offset`.
  void add(std::size_t offset, const control_group& group, std::vector<std::unique_ptr<group_segment>> segments);
  /// Unmaps the segments at `offset` and releases their range. The caller synchronises the members first.
  void remove(std::size_t offset) noexcept;

  /// Whether team segments cover [offset, offset + bytes).
  [[nodiscard]] bool contains(std::size_t offset, std::size_t bytes) const;
  /// Whether PE `pe` of the world has memory at `offset`. At offsets below the team segments, every PE has memory.
  [[nodiscard]] bool peer_has(std::size_t offset, int pe) const;
  [[nodiscard]] std::size_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::size_t end() const noexcept { return end_; }
  [[nodiscard]] std::size_t count() const;

 private:
  struct range {
    std::size_t bytes = 0;
    std::vector<int> members;
    std::vector<std::unique_ptr<group_segment>> segments;
  };
  /// The range that contains `offset`.
  [[nodiscard]] std::map<std::size_t, range>::const_iterator find(std::size_t offset) const;
  void report_bounds() const;

  const std::size_t begin_;
  const std::size_t end_;
  group_offset_allocator space_;
  const change_callback on_change_;
  mutable std::mutex mutex_;
  std::map<std::size_t, range> ranges_;  ///< ranges by offset
};

}  // namespace pgas::detail
