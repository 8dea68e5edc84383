/// @file
/// Symmetric memory: what one PE allocates, all allocate, at the same offset of their slots.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "pgas/types.hpp"

namespace pgas {

/// Sizes of the calling PE's part of the heap, in bytes.
struct heap_usage {
  std::size_t used = 0;          ///< in live allocations, rounding included
  std::size_t mapped = 0;        ///< physical memory behind the slot
  std::size_t limit = 0;         ///< what it may grow to
  std::size_t largest_free = 0;  ///< largest allocation that needs no new segment
  std::size_t allocations = 0;   ///< live ones
};

/// Whether allocated memory starts as zeros.
enum class initialize : bool { no = false, zero = true };

namespace detail {
class world_state;
/// Frees one allocation of symmetric<T>; collective, does nothing once the world has been left.
PGAS_API void release(world_state& world, void* pointer) noexcept;
}  // namespace detail

/// Owns `size()` objects of type T in the symmetric heap, on every PE. Made by world::allocate().
///
/// *Callers* construction and destruction are collective. Destroying it after the world was left is allowed.
/// *Memory* the elements may lie in GPU memory: then only kernels and the host operations of rma.hpp may touch them.
/// *Errors* the destructor never throws; when it runs because an exception is unwinding this PE, it aborts the world
/// instead of waiting for PEs that may never come.
template <rma_type T>
class symmetric {
 public:
  symmetric() = default;
  symmetric(std::shared_ptr<detail::world_state> world, T* data, std::size_t size) noexcept
      : world_(std::move(world)), data_(data), size_(size) {}
  symmetric(symmetric&& other) noexcept
      : world_(std::move(other.world_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  symmetric& operator=(symmetric&& other) noexcept {
    if (this != &other) {
      reset();
      world_ = std::move(other.world_);
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  symmetric(const symmetric&) = delete;
  symmetric& operator=(const symmetric&) = delete;
  ~symmetric() { reset(); }

  /// This PE's elements; the address that device and host operations take for any PE.
  [[nodiscard]] T* data() const noexcept { return data_; }
  /// Elements on each PE.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] explicit operator bool() const noexcept { return data_ != nullptr; }
  /// Frees now. Collective.
  void reset() noexcept {
    if (data_ != nullptr) detail::release(*world_, std::exchange(data_, nullptr));
    world_.reset();
    size_ = 0;
  }

 private:
  std::shared_ptr<detail::world_state> world_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace pgas
