/// @file
/// Puts a time limit on a call into somebody else's library that offers none.
#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <utility>

namespace pgas::boot {

/// Runs `call` on a thread of its own and returns what it returned, or nothing when it takes longer than `limit`; then
/// the thread stays behind in that call, so whatever `call` uses must be owned by it.
template <class Call>
[[nodiscard]] auto bounded_call(std::chrono::milliseconds limit, Call call) -> std::optional<decltype(call())> {
  std::packaged_task<decltype(call())()> task{std::move(call)};
  auto answer = task.get_future();
  std::thread{std::move(task)}.detach();
  if (answer.wait_for(limit) != std::future_status::ready) return std::nullopt;
  return answer.get();
}

}  // namespace pgas::boot
