/// @file
/// Buffers for messages, used again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace pgas::detail {

/// Buffers of one size, named by number. More are made when all are in use.
class message_pool {
 public:
  using number = std::uint32_t;
  static constexpr number none = ~number{0};

  /// @param first memory that the first buffers are made of; it outlives the pool
  explicit message_pool(std::size_t capacity, std::span<std::byte> first = {}) : capacity_(capacity) {
    for (; first.size() >= capacity; first = first.subspan(capacity)) buffers_.push_back({nullptr, first.data(), 0});
    for (auto each = static_cast<number>(buffers_.size()); each > 0; --each) free_.push_back(each - 1);
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::size_t in_use() const noexcept { return buffers_.size() - free_.size(); }

  /// An empty buffer.
  [[nodiscard]] number take() {
    if (free_.empty()) {
      free_.reserve(buffers_.size() + 1);
      auto made = std::make_unique_for_overwrite<std::byte[]>(capacity_);
      std::byte* const start = made.get();
      buffers_.push_back({std::move(made), start, 0});
      return static_cast<number>(buffers_.size() - 1);
    }
    const number which = free_.back();
    free_.pop_back();
    buffers_[which].used = 0;
    return which;
  }
  void release(number which) noexcept { free_.push_back(which); }  // reserved by take()

  [[nodiscard]] std::byte* start(number which) noexcept { return buffers_[which].start; }
  [[nodiscard]] std::size_t used(number which) const noexcept { return buffers_[which].used; }
  [[nodiscard]] std::span<const std::byte> contents(number which) const noexcept {
    return {buffers_[which].start, buffers_[which].used};
  }
  /// The next `bytes` of the buffer, which has room for them.
  [[nodiscard]] std::byte* extend(number which, std::size_t bytes) noexcept {
    std::byte* const at = buffers_[which].start + buffers_[which].used;
    buffers_[which].used += bytes;
    return at;
  }

 private:
  struct buffer {
    std::unique_ptr<std::byte[]> owned;
    std::byte* start;
    std::size_t used;
  };

  const std::size_t capacity_;
  std::vector<buffer> buffers_;
  std::vector<number> free_;
};

}  // namespace pgas::detail
