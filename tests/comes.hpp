/// @file
/// Waits for a condition that another thread or another process makes true.
#pragma once

#include <chrono>
#include <thread>

namespace pgas_test {

/// Whether the condition becomes true within the time. The limit is long, because the machine can be busy.
template <class Condition>
[[nodiscard]] bool comes(Condition&& condition, std::chrono::milliseconds limit = std::chrono::seconds(10)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace pgas_test
