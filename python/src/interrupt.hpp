/// @file
/// Lets Ctrl-C end blocking calls of the library. Python runs signal handlers in its main thread only, and the
/// library's waits do not return for a signal. The main thread therefore runs a blocking call in a second thread, and
/// checks for signals while it waits. Other threads call directly, and no signal interrupts them.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

namespace pgas::python {

/// Releases the GIL during its lifetime, as nanobind's gil_scoped_release does, and also handles the end of the
/// interpreter. A thread that needs the GIL after the interpreter has ended stays in the destructor until the process
/// ends. Python before 3.14 ends such a thread by unwinding its stack. Destructors and `noexcept` functions of C++ stop
/// the unwinding, which would abort the process.
class gil_released {
 public:
  gil_released() : state_(PyEval_SaveThread()) {}
  ~gil_released();
  gil_released(const gil_released&) = delete;
  gil_released& operator=(const gil_released&) = delete;

 private:
  PyThreadState* state_;
};

/// Whether the calling thread is Python's main thread, in which Python runs signal handlers.
[[nodiscard]] bool on_main_thread();

/// Runs `body` in a second thread, returns when it has ended, and throws its exception. *Callers* the main thread, with
/// the GIL. The GIL is released during the call.
/// @param interrupt called without the GIL when a signal handler has raised an exception; receives the text of the
/// exception. The function must make `body` end soon.
/// @param abandon whether the call returns immediately after `interrupt`, while `body` continues; otherwise the call
/// waits for the end of `body`
void run_elsewhere(std::function<void()> body, const std::function<void(const std::string&)>& interrupt, bool abandon);

/// Calls `body()` without the GIL. Ctrl-C calls `interrupt`, and the handler's exception is thrown after `body` has
/// ended.
template <class Body>
auto interruptible(const Body& body, const std::function<void(const std::string&)>& interrupt) {
  using result = std::invoke_result_t<const Body&>;
  if (!on_main_thread()) {
    const gil_released free;
    return body();
  }
  if constexpr (std::is_void_v<result>) {
    run_elsewhere([&] { body(); }, interrupt, false);
  } else {
    std::optional<result> value;
    run_elsewhere([&] { value.emplace(body()); }, interrupt, false);
    return std::move(*value);
  }
}

/// Calls `body()` without the GIL. If a signal handler raises an exception, the call throws this exception immediately.
/// `body` then continues in the second thread, and its result is dropped. So `body` must not refer to objects of the
/// caller.
template <class Body>
auto abandonable(Body body) {
  using result = std::invoke_result_t<const Body&>;
  if (!on_main_thread()) {
    const gil_released free;
    return body();
  }
  const auto value = std::make_shared<std::optional<result>>();
  run_elsewhere([value, body = std::move(body)] { value->emplace(body()); }, [](const std::string&) {}, true);
  return std::move(**value);
}

/// Runs pending signal handlers, and throws the exception that a handler raises. *Callers* any thread, without the GIL.
void check_signals();

}  // namespace pgas::python
