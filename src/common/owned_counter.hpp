/// @file
/// A counter that one thread increments and any thread reads. It costs as little as a plain variable.
#pragma once

#include <atomic>
#include <cstdint>

namespace pgas::detail {

/// *Callers* `++` and `+=`: one thread at a time; reading: any thread. Reads of two counters are not
/// one snapshot.
class owned_counter {
 public:
  owned_counter() = default;
  owned_counter(const owned_counter& other) noexcept : value_(other.read()) {}
  owned_counter& operator=(const owned_counter& other) noexcept {
    value_.store(other.read(), std::memory_order_relaxed);
    return *this;
  }

  void operator+=(std::uint64_t more) noexcept { value_.store(read() + more, std::memory_order_relaxed); }
  void operator++() noexcept { *this += 1; }

  [[nodiscard]] std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }
  operator std::uint64_t() const noexcept { return read(); }  // implicit, so that a counter can be used as a number

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace pgas::detail
