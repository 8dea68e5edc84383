/// @file
/// Threads of the library's own.
#pragma once

#include <functional>
#include <thread>

namespace pgas::detail {

/// Starts a thread in which all signals are blocked: handlers run on the application's threads. *Errors* code::system
/// naming the limit that may stand in the way.
/// @param name of the thread for debuggers, at most 15 characters.
[[nodiscard]] std::thread start_thread(const char* name, std::function<void()> body);

}  // namespace pgas::detail
