/// @file
/// Puts a time limit on a call into somebody else's library that offers none.
#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "bootstrap/common/text.hpp"

namespace pgas::boot {

/// Runs `call` on a thread of its own and returns what it returned, or nothing when it takes longer than `limit`; then
/// the thread stays behind in that call, so whatever `call` uses must be owned by it. *Errors* code::system where no
/// thread can be started, and what `call` throws.
template <class Call>
[[nodiscard]] auto call_with_timeout(std::chrono::milliseconds limit, Call call) -> std::optional<decltype(call())> {
  std::packaged_task<decltype(call())()> task{std::move(call)};
  auto answer = task.get_future();
  try {
    std::thread{std::move(task)}.detach();
  } catch (const std::exception& why) {
    throw_no_thread(why);
  }
  if (answer.wait_for(limit) != std::future_status::ready) return std::nullopt;
  return answer.get();
}

}  // namespace pgas::boot
