/// @file
/// A slot map: stores values, returns a key for each value, and reuses the storage of released values. A key stays
/// valid until it is released. Keys identify operations in flight: a message or a callback reports the end of an
/// operation by its key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pgas::detail {

/// A key is an index and the generation of the slot. The generation is odd while the slot is in use. A key of a
/// released slot is recognized as invalid until the slot has been used 2^30 more times. Bit 63 of a key is 0.
///
/// *Callers* one thread at a time. *Memory* enough for the largest number of slots that were in use at the same time. A
/// released slot keeps its value, so the next user of the slot can reuse the buffers of the value. Values move when the
/// map grows.
template <class T>
class slot_map {
 public:
  using key = std::uint64_t;
  static constexpr key none = 0;  ///< a key that no slot has

  /// Allocates a slot. Its value is a new T or the value of the slot that was released last. *Errors* std::bad_alloc,
  /// with no change.
  [[nodiscard]] key take() {
    if (free_ == no_slot) {
      slots_.emplace_back();
      free_ = static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t index = free_;
    slot& taken = slots_[index];
    free_ = taken.next_free;
    taken.generation = next(taken.generation);
    ++in_use_;
    return key{taken.generation} << 32 | index;
  }
  /// Releases the slot of a valid key.
  void release(key which) noexcept {
    const auto index = static_cast<std::uint32_t>(which);
    slot& released = slots_[index];
    released.generation = next(released.generation);
    released.next_free = free_;
    free_ = index;
    --in_use_;
  }

  /// The value of a valid key. For keys that come from other processes, use find().
  [[nodiscard]] T& operator[](key which) noexcept { return slots_[static_cast<std::uint32_t>(which)].value; }
  [[nodiscard]] const T& operator[](key which) const noexcept {
    return slots_[static_cast<std::uint32_t>(which)].value;
  }
  /// The value of a key; null if the key is not valid.
  [[nodiscard]] T* find(key which) noexcept {
    const auto index = static_cast<std::uint32_t>(which);
    const bool taken = index < slots_.size() && slots_[index].generation == which >> 32 && (which >> 32) % 2 == 1;
    return taken ? &slots_[index].value : nullptr;
  }
  /// The number of slots in use.
  [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }

 private:
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};

  struct slot {
    T value{};
    std::uint32_t generation = 0;
    std::uint32_t next_free = no_slot;
  };
  [[nodiscard]] static std::uint32_t next(std::uint32_t generation) noexcept { return (generation + 1) & 0x7fffffffu; }

  std::vector<slot> slots_;
  std::uint32_t free_ = no_slot;  ///< the slot released last
  std::size_t in_use_ = 0;
};

}  // namespace pgas::detail
