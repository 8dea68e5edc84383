/// @file
/// The memory that the transport of a proxy can access.
#pragma once

#include <cstdint>
#include <vector>

namespace pgas::detail {

/// Memory that the transport can access: segments of a PE's slot by offset, or segments of this process by address.
class exposed_segments {
 public:
  struct segment {
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint64_t imported;  ///< the transport's number of the segment
  };

  [[nodiscard]] bool empty() const noexcept { return segments_.empty(); }
  void add(const segment& item) { segments_.push_back(item); }
  /// The segment that contains `offset`; null if no segment contains the offset.
  [[nodiscard]] const segment* find(std::uint64_t offset) const noexcept {
    for (const segment& candidate : segments_) {
      if (offset - candidate.offset < candidate.bytes) return &candidate;
    }
    return nullptr;
  }
  /// Removes the segments that begin at `offset`, and calls forget(imported) for each.
  template <class F>
  void remove(std::uint64_t offset, const F& forget) {
    std::erase_if(segments_, [&](const segment& candidate) {
      if (candidate.offset != offset) return false;
      forget(candidate.imported);
      return true;
    });
  }
  template <class F>
  void clear(const F& forget) {
    for (const segment& each : segments_) forget(each.imported);
    segments_.clear();
  }

 private:
  std::vector<segment> segments_;  ///< a short list, because segments grow geometrically
};

}  // namespace pgas::detail
