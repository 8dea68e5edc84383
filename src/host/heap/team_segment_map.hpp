/// @file
/// The upper half of every slot: segments of teams, and of buffers that the program made.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "host/control/control_group.hpp"
#include "host/heap/group_offset_allocator.hpp"
#include "host/heap/segment_sharing.hpp"

namespace pgas::detail {

/// Ranges of the slots with segments of the members of one group. The heap below grows in step on all PEs; these ranges
/// come and go between the members of a group, at an offset that is free on all of them. In the slots of other PEs
/// nothing is mapped there. *Callers* any thread, collectives one for each group.
class team_segment_map {
 public:
  /// Called under a lock with the range of offsets in which this PE has team segments; equal where it has none.
  using change_callback = std::function<void(std::size_t begin, std::size_t end)>;

  team_segment_map(std::size_t begin, std::size_t end, std::size_t unit, change_callback on_change)
      : begin_(begin), end_(end), space_(begin, end, unit), on_change_(std::move(on_change)) {}

  /// Collective over `group`: addresses for `bytes`, the same on all members, until remove(): from offset `wish` on
  /// where they are free.
  [[nodiscard]] std::optional<std::size_t> reserve(const control_group& group, std::size_t bytes,
                                                   std::size_t wish = 0) {
    return space_.take(group, bytes, wish);
  }
  /// Keeps the segments that were mapped there, one behind the other.
  void add(std::size_t offset, const control_group& group, std::vector<std::unique_ptr<shared_segment>> segments);
  /// Unmaps the segments there and releases the addresses. Members wait for one another before.
  void remove(std::size_t offset) noexcept;

  /// Whether [offset, offset + bytes) lies in team segments, which may follow one another.
  [[nodiscard]] bool contains(std::size_t offset, std::size_t bytes) const;
  /// Whether PE `pe` of the world has memory at `offset`: below the team segments all PEs have.
  [[nodiscard]] bool peer_has(std::size_t offset, int pe) const;
  [[nodiscard]] std::size_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::size_t end() const noexcept { return end_; }
  [[nodiscard]] std::size_t count() const;

 private:
  struct range {
    std::size_t bytes = 0;
    std::vector<int> members;
    std::vector<std::unique_ptr<shared_segment>> segments;
  };
  /// The range around `offset`.
  [[nodiscard]] std::map<std::size_t, range>::const_iterator find(std::size_t offset) const;
  void report_bounds() const;

  const std::size_t begin_;
  const std::size_t end_;
  group_offset_allocator space_;
  const change_callback on_change_;
  mutable std::mutex mutex_;
  std::map<std::size_t, range> ranges_;  ///< by offset
};

}  // namespace pgas::detail
