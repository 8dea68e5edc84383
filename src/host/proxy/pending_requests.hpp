/// @file
/// What this PE has asked others for by message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/proxy/local_memory.hpp"
#include "host/proxy/proxy_op.hpp"

namespace pgas::detail {

/// Requests under way, named by numbers that are not used again soon: a reply that nobody waits for is noticed.
class pending_requests {
 public:
  struct request {
    proxy_op* op = nullptr;
    int pe = -1;
    std::byte* local = nullptr;  ///< where the bytes go; null: they are the answer
    block_list blocks;           ///< there
    std::size_t bytes = 0;       ///< of the reply
  };

  /// The number of a request; never 0.
  [[nodiscard]] std::uint64_t add(const request& what) {
    if (free_.empty()) {
      free_.reserve(entries_.size() + 1);
      free_.push_back(entries_.size());
      entries_.emplace_back();
    }
    const std::size_t index = free_.back();
    free_.pop_back();
    entry& place = entries_[index];
    place.what = what;
    place.waiting = true;
    return place.generation << 32 | index;
  }
  /// The request that a reply from `pe` of so many bytes is for; null where there is none.
  [[nodiscard]] const request* find(std::uint64_t number, int pe, std::size_t bytes) const noexcept {
    const std::uint64_t index = number & 0xffffffffu;
    if (index >= entries_.size()) return nullptr;
    const entry& place = entries_[index];
    const bool fits =
        place.waiting && place.generation == number >> 32 && place.what.pe == pe && place.what.bytes == bytes;
    return fits ? &place.what : nullptr;
  }
  void remove(std::uint64_t number) noexcept {
    entry& place = entries_[number & 0xffffffffu];
    place.waiting = false;
    place.generation = (place.generation + 1) & 0xffffffffu;
    if (place.generation == 0) place.generation = 1;
    free_.push_back(number & 0xffffffffu);  // reserved by add()
  }

 private:
  struct entry {
    request what;
    std::uint64_t generation = 1;
    bool waiting = false;
  };
  std::vector<entry> entries_;
  std::vector<std::size_t> free_;
};

}  // namespace pgas::detail
