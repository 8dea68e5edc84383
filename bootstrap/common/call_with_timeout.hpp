/// @file
/// A time limit for a call into another library that offers none.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "common/system.hpp"

namespace pgas::boot {

/// Runs `call` on a thread of its own and returns its result, or nothing when it takes longer than `limit`; then the
/// thread stays in that call, so `call` must own all that it uses. *Errors* code::system where no thread can be
/// started, and those of `call`.
template <class Call>
[[nodiscard]] auto call_with_timeout(std::chrono::milliseconds limit, Call call) -> std::optional<decltype(call())> {
  const auto task = std::make_shared<std::packaged_task<decltype(call())()>>(std::move(call));
  auto answer = task->get_future();
  detail::start_thread("pgas-call", [task] { (*task)(); }).detach();
  if (answer.wait_for(limit) != std::future_status::ready) return std::nullopt;
  return answer.get();
}

}  // namespace pgas::boot
