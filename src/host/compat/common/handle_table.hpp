/// @file
/// A table of objects by number, for the handles of C interfaces.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "pgas/error.hpp"

namespace pgas::compat {

/// Owns objects and gives each the lowest free number. The address of an object is valid until take().
///
/// *Callers* any thread; no thread may use an object during take().
template <class T>
class handle_table {
 public:
  /// @param what the name of an object in messages, such as "team". @param first the lowest number.
  explicit handle_table(std::string what, int first = 0) : what_(std::move(what)), first_(first) {}

  /// Takes ownership of `object`. *On return* the number of the object.
  [[nodiscard]] int add(T object) {
    const std::lock_guard lock(mutex_);
    std::size_t at = 0;
    while (at < objects_.size() && objects_[at] != nullptr) ++at;
    if (at == objects_.size()) objects_.emplace_back();
    objects_[at] = std::make_unique<T>(std::move(object));
    return static_cast<int>(at) + first_;
  }

  /// The object with this number. *Errors* invalid_argument for an unknown number.
  [[nodiscard]] T& find(int number) {
    const std::lock_guard lock(mutex_);
    return *slot(number);
  }

  /// Whether the table contains an object with this number.
  [[nodiscard]] bool contains(int number) {
    const std::lock_guard lock(mutex_);
    return index(number) < objects_.size() && objects_[index(number)] != nullptr;
  }

  /// Removes the object and returns it. The number is free again. *Errors* invalid_argument for an unknown number.
  [[nodiscard]] T take(int number) {
    const std::lock_guard lock(mutex_);
    const std::unique_ptr<T> object = std::move(slot(number));
    return std::move(*object);
  }

  /// Calls `visit(number, object)` for each object, with the table locked. `visit` must not use the table.
  template <class Visit>
  void for_each(Visit&& visit) {
    const std::lock_guard lock(mutex_);
    for (std::size_t at = 0; at < objects_.size(); ++at)
      if (objects_[at] != nullptr) visit(static_cast<int>(at) + first_, *objects_[at]);
  }

  /// The highest number that any object has had, plus one.
  [[nodiscard]] int end() {
    const std::lock_guard lock(mutex_);
    return first_ + static_cast<int>(objects_.size());
  }

  /// Destroys all objects.
  void clear() {
    std::vector<std::unique_ptr<T>> all;
    {
      const std::lock_guard lock(mutex_);
      all.swap(objects_);
    }
  }

 private:
  /// If `number` is below the first number, the result wraps to an index beyond any table.
  [[nodiscard]] std::size_t index(int number) const {
    return static_cast<std::size_t>(static_cast<long long>(number) - first_);
  }
  [[nodiscard]] std::unique_ptr<T>& slot(int number) {
    if (index(number) >= objects_.size() || objects_[index(number)] == nullptr)
      throw error(code::invalid_argument,
                  fmt::format("there is no {0} {1}: it was never created, was destroyed, or this PE is not a member",
                              what_, number));
    return objects_[index(number)];
  }

  const std::string what_;
  const int first_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> objects_;
};

}  // namespace pgas::compat
