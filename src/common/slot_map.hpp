/// @file
/// A slot map: values under keys that stay valid until released, in storage that is used again. Names operations in
/// flight, whose end a message or a callback reports by key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pgas::detail {

/// A key is an index and the generation of its slot, which is odd while the slot is taken: keys of released slots are
/// recognized until their slot has been taken 2^30 times more. Bit 63 of a key is 0.
///
/// *Callers* one thread at a time. *Memory* that of the most slots taken at once. A released slot keeps its value, so
/// that the next user finds its buffers; values move when the map grows.
template <class T>
class slot_map {
 public:
  using key = std::uint64_t;
  static constexpr key none = 0;  ///< never given out

  /// Takes a slot; its value is a new T or the one that was released last. *Errors* std::bad_alloc, with no change.
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
  /// Ends the life of a key that find() knows.
  void release(key which) noexcept {
    const auto index = static_cast<std::uint32_t>(which);
    slot& released = slots_[index];
    released.generation = next(released.generation);
    released.next_free = free_;
    free_ = index;
    --in_use_;
  }

  /// The value of a key that is taken; find() for keys from outside.
  [[nodiscard]] T& operator[](key which) noexcept { return slots_[static_cast<std::uint32_t>(which)].value; }
  [[nodiscard]] const T& operator[](key which) const noexcept {
    return slots_[static_cast<std::uint32_t>(which)].value;
  }
  /// Null unless the key is taken.
  [[nodiscard]] T* find(key which) noexcept {
    const auto index = static_cast<std::uint32_t>(which);
    const bool taken = index < slots_.size() && slots_[index].generation == which >> 32 && (which >> 32) % 2 == 1;
    return taken ? &slots_[index].value : nullptr;
  }
  /// Slots that are taken.
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
