/// @file
/// Threads of the library, and calls into other libraries that may never return.
#pragma once

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "pgas/error.hpp"

namespace pgas::detail {

/// The error if the system cannot start a thread.
[[nodiscard]] inline error thread_refused(const std::exception& why) {
  return error(code::system,
               fmt::format("starting a thread: {}. Raise the limit on processes (`ulimit -u`, or that of the "
                           "container), or on addresses (`ulimit -v`)",
                           why.what()));
}

/// Starts a thread with all signals blocked, so that signal handlers run on the application's threads.
/// *Errors* code::system with the limit that may be the cause.
/// @param name the name of the thread for debuggers, at most 15 characters
[[nodiscard]] inline std::thread start_thread(const char* name, std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread started(std::move(body));
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::pthread_setname_np(started.native_handle(), name);
    return started;
  } catch (const std::exception& why) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw thread_refused(why);
  }
}

/// Runs `call` on a separate thread. Returns whether `call` ends within `limit`. After the limit the thread is left in
/// `call`, so `call` must own all data that it accesses. *Errors* code::system if no thread can be started, and the
/// errors of `call`.
[[nodiscard]] inline bool ends_within(std::chrono::milliseconds limit, std::function<void()> call) {
  const auto task = std::make_shared<std::packaged_task<void()>>(std::move(call));
  std::future<void> end = task->get_future();
  start_thread("pgas-call", [task] { (*task)(); }).detach();
  if (end.wait_for(limit) != std::future_status::ready) return false;
  end.get();
  return true;
}

/// As ends_within(), but returns the result of `call`, or an empty value if `call` takes longer than `limit`.
template <class Call>
[[nodiscard]] auto call_with_timeout(std::chrono::milliseconds limit, Call call) -> std::optional<decltype(call())> {
  const auto result = std::make_shared<std::optional<decltype(call())>>();
  if (!ends_within(limit, [result, call = std::move(call)] { result->emplace(call()); })) return std::nullopt;
  return std::move(*result);
}

}  // namespace pgas::detail
