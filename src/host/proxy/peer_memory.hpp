/// @file
/// What the transport reaches of one PE's slot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pgas::detail {

/// Segments of a slot with the transport's numbers for them.
class peer_memory {
 public:
  struct segment {
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint64_t imported;
  };

  [[nodiscard]] bool empty() const noexcept { return segments_.empty(); }
  void add(const segment& what) { segments_.push_back(what); }
  /// The segment that `offset` lies in, if it is known.
  [[nodiscard]] const segment* find(std::uint64_t offset) const noexcept {
    for (const segment& candidate : segments_) {
      if (offset - candidate.offset < candidate.bytes) return &candidate;
    }
    return nullptr;
  }
  /// Takes out the segments that begin at `offset`, and gives `forget` their numbers.
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
  std::vector<segment> segments_;  ///< few: segments grow geometrically
};

}  // namespace pgas::detail
