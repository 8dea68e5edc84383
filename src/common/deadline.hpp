/// @file
/// A point in time at which a wait ends. Every wait while joining has a deadline.
#pragma once

#include <algorithm>
#include <chrono>

namespace pgas::detail {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

class deadline {
 public:
  explicit deadline(milliseconds limit) : at_(clock::now() + std::clamp(limit, milliseconds{0}, longest)) {}

  [[nodiscard]] bool expired() const { return clock::now() >= at_; }
  [[nodiscard]] clock::time_point at() const { return at_; }
  /// The time left, never negative.
  [[nodiscard]] milliseconds left() const {
    return std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(at_ - clock::now()));
  }
  /// This deadline, or a deadline `limit` from now, whichever is earlier.
  [[nodiscard]] deadline but_at_most(milliseconds limit) const { return deadline{std::min(left(), limit)}; }

 private:
  static constexpr milliseconds longest = std::chrono::hours{24 * 20};  // the largest value that poll() accepts
  clock::time_point at_;
};

}  // namespace pgas::detail
