/// @file
/// Calls of the operating system: their errors as pgas::error, and threads.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace pgas::detail {

/// What the C library calls this errno. *Callers* any thread.
[[nodiscard]] std::string errno_text(int number);

/// Throws code::system with "`what`: `number`'s text".
[[noreturn]] void throw_system(std::string_view what, int number);
/// The same for errno.
[[noreturn]] void throw_system(std::string_view what);

/// Starts a thread in which all signals are blocked: handlers run on the application's threads. *Errors* code::system
/// naming the limit that may stand in the way.
/// @param name of the thread for debuggers, at most 15 characters.
[[nodiscard]] std::thread start_thread(const char* name, std::function<void()> body);

}  // namespace pgas::detail
