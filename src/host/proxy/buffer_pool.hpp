/// @file
/// Reusable buffers for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/slot_map.hpp"

namespace pgas::detail {

/// Buffers of one size. Allocates another buffer when all buffers are in use.
class buffer_pool {
 public:
  using key = std::uint64_t;
  static constexpr key none = 0;

  /// @param first memory for the first buffers; this memory must outlive the pool
  explicit buffer_pool(std::size_t capacity, std::span<std::byte> first = {}) : capacity_(capacity) {
    std::vector<key> taken;
    for (; first.size() >= capacity; first = first.subspan(capacity)) {
      taken.push_back(buffers_.take());
      buffers_[taken.back()].start = first.data();
    }
    for (; !taken.empty(); taken.pop_back()) buffers_.release(taken.back());
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::size_t in_use() const noexcept { return buffers_.in_use(); }

  /// Returns an empty buffer.
  [[nodiscard]] key take() {
    const key taken = buffers_.take();
    buffer& mine = buffers_[taken];
    mine.used = 0;
    if (mine.start == nullptr) allocate(taken);
    return taken;
  }
  void release(key which) noexcept { buffers_.release(which); }

  [[nodiscard]] std::byte* start(key which) noexcept { return buffers_[which].start; }
  [[nodiscard]] std::size_t used(key which) const noexcept { return buffers_[which].used; }
  [[nodiscard]] std::span<const std::byte> contents(key which) const noexcept {
    return {buffers_[which].start, buffers_[which].used};
  }
  /// Reserves the next `bytes` bytes of the buffer. The buffer must have room for these bytes.
  [[nodiscard]] std::byte* extend(key which, std::size_t bytes) noexcept {
    buffer& mine = buffers_[which];
    std::byte* const at = mine.start + mine.used;
    mine.used += bytes;
    return at;
  }

 private:
  struct buffer {
    std::unique_ptr<std::byte[]> owned;
    std::byte* start = nullptr;
    std::size_t used = 0;
  };

  void allocate(key which) {
    try {
      buffers_[which].owned = std::make_unique_for_overwrite<std::byte[]>(capacity_);
    } catch (...) {
      buffers_.release(which);
      throw;
    }
    buffers_[which].start = buffers_[which].owned.get();
  }

  const std::size_t capacity_;
  slot_map<buffer> buffers_;
};

}  // namespace pgas::detail
