/// @file
/// The upper half of every slot: memory that only some PEs share, or that was made elsewhere.
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
#include "host/heap/shared_offset_space.hpp"
#include "host/heap/shared_segment.hpp"

namespace pgas::detail {

/// Ranges of addresses with segments of the members of a group behind them. The heap below grows in step on all PEs; a
/// window comes and goes between those that it concerns, at an offset that is free with all of them. In the slots of
/// other PEs nothing is mapped there. *Callers* any thread, collectives one for each group.
class team_segments {
 public:
  /// Told, under a lock, from which to which offset windows are mapped on this PE; none: equal.
  using change_callback = std::function<void(std::size_t begin, std::size_t end)>;

  team_segments(std::size_t begin, std::size_t end, std::size_t unit, change_callback on_change)
      : begin_(begin), space_(begin, end, unit), on_change_(std::move(on_change)) {}

  /// Collective over `group`: addresses for `bytes`, the same on all members, until remove().
  [[nodiscard]] std::optional<std::size_t> reserve(const control_group& group, std::size_t bytes) {
    return space_.take(group, bytes);
  }
  /// Keeps what was mapped there, one behind the other.
  void add(std::size_t offset, const control_group& group, std::vector<std::unique_ptr<shared_segment>> segments);
  /// Unmaps what is there, and gives the addresses back. Members wait for one another before.
  void remove(std::size_t offset) noexcept;

  /// Whether [offset, offset + bytes) lies in windows, which may follow one another.
  [[nodiscard]] bool contains(std::size_t offset, std::size_t bytes) const;
  /// Whether PE `pe` of the world has something at `offset`: not below the windows, where all PEs do.
  [[nodiscard]] bool reaches(std::size_t offset, int pe) const;
  [[nodiscard]] std::size_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::size_t count() const;

 private:
  struct window {
    std::size_t bytes = 0;
    std::vector<int> members;
    std::vector<std::unique_ptr<shared_segment>> segments;
  };
  /// The window around `offset`.
  [[nodiscard]] std::map<std::size_t, window>::const_iterator find(std::size_t offset) const;
  void tell() const;

  const std::size_t begin_;
  shared_offset_space space_;
  const change_callback on_change_;
  mutable std::mutex mutex_;
  std::map<std::size_t, window> team_segments_;  ///< by offset
};

}  // namespace pgas::detail
