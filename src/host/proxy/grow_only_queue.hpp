/// @file
/// A queue that allocates memory only when it becomes longer than at any time before.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace pgas::detail {

template <class T>
class grow_only_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == last_; }
  [[nodiscard]] std::size_t size() const noexcept { return last_ - first_; }
  [[nodiscard]] T& front() noexcept { return items_[first_ & (items_.size() - 1)]; }
  [[nodiscard]] const T& front() const noexcept { return items_[first_ & (items_.size() - 1)]; }
  [[nodiscard]] const T& back() const noexcept { return items_[(last_ - 1) & (items_.size() - 1)]; }

  void push(T item) {
    if (size() == items_.size()) grow();
    items_[last_++ & (items_.size() - 1)] = std::move(item);
  }
  void pop() noexcept { ++first_; }
  void clear() noexcept { first_ = last_; }

 private:
  void grow() {
    std::vector<T> larger(items_.empty() ? 16 : 2 * items_.size());
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) larger[i] = std::move(items_[(first_ + i) & (items_.size() - 1)]);
    items_.swap(larger);
    first_ = 0;
    last_ = count;
  }

  std::vector<T> items_;  ///< the size is a power of two
  std::size_t first_ = 0;
  std::size_t last_ = 0;
};

}  // namespace pgas::detail
